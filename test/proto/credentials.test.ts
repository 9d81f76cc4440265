import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { ServerCredentials } from "@grpc/grpc-js";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
	type Authority,
	createAuthority,
	issueAgentCertificate,
	type KeyPair,
} from "../../demo/machine/certificates.ts";
import { AgentForbiddenError, AgentUnavailableError } from "../../disruption/errors.ts";
import { agentServerName, createAgentClient, createTokenSource } from "../../proto/credentials.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import * as samples from "../support/samples.ts";
import { startScriptedAgent } from "../support/scripted-agent.ts";
import { askForUnverifiedTls } from "../support/unverified-tls.ts";

const { clusterId, acquisition } = samples;
const serverName = agentServerName("xpdb-system");
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

let fleet: Authority;
let stranger: Authority;
let agent: KeyPair;
beforeAll(async () => {
	[fleet, stranger] = await Promise.all([createAuthority("fleet"), createAuthority("stranger")]);
});
beforeEach(async () => {
	agent = await issueAgentCertificate(fleet, { clusterId });
});

/** Starts an agent that records the authorization of each Renew, or the name in the client's certificate. */
async function startTlsAgent({ mutual = false } = {}): Promise<{ address: string; seen: unknown[] }> {
	const seen: unknown[] = [];
	const started = await startScriptedAgent(
		{
			renew: (call, answer) => {
				seen.push(call.metadata.get("authorization")[0] ?? call.getAuthContext().sslPeerCertificate?.subject.CN);
				answer(null, { clusterId });
			},
		},
		ServerCredentials.createSsl(
			Buffer.from(fleet.certificate),
			[{ cert_chain: Buffer.from(agent.certificate), private_key: Buffer.from(agent.key) }],
			mutual,
		),
	);
	cleanups.push(() => started[Symbol.asyncDispose]());
	return { address: started.address, seen };
}

function renewThrough(options: Parameters<typeof createAgentClient>[0]): Promise<void> {
	const client = createAgentClient(options);
	cleanups.push(() => client.close());
	return new RemoteCluster({ id: clusterId, name: "eu-1", client }).renew(acquisition);
}

const bearer = (token: () => Promise<string>) => ({ kind: "token", token }) as const;

describe("createAgentClient()", () => {
	test("sends the current token with each call", async () => {
		const { address, seen } = await startTlsAgent();
		let number = 0;
		const identity = bearer(async () => `token-${++number}`);
		const client = createAgentClient({ address, serverName, ca: fleet.certificate, identity });
		cleanups.push(() => client.close());
		const cluster = new RemoteCluster({ id: clusterId, name: "eu-1", client });
		await cluster.renew(acquisition);
		await cluster.renew(acquisition);
		expect(seen).toEqual(["Bearer token-1", "Bearer token-2"]);
	});

	test("shows its certificate to a peer", async () => {
		const { address, seen } = await startTlsAgent({ mutual: true });
		const identity = { kind: "certificate", certificate: agent.certificate, privateKey: agent.key } as const;
		await renewThrough({ address, serverName, ca: fleet.certificate, identity });
		expect(seen).toEqual(["xpdb-agent"]);
	});

	test("trusts no agent of another CA, and sends it no token", async () => {
		const { address, seen } = await startTlsAgent();
		const asked = renewThrough({
			address,
			serverName,
			ca: stranger.certificate,
			identity: bearer(async () => "secret"),
		});
		await expect(asked).rejects.toBeInstanceOf(AgentUnavailableError);
		expect(seen).toEqual([]);
	});

	test("trusts no agent of another CA where Node's environment asks for TLS without verification", async () => {
		askForUnverifiedTls();
		const { address, seen } = await startTlsAgent();
		const options = { address, serverName, ca: stranger.certificate };
		const asked = renewThrough({ ...options, identity: bearer(async () => "secret") });
		await expect(asked).rejects.toThrow(/: self-signed certificate in certificate chain$/);
		expect(seen).toEqual([]);
	});

	test("trusts no certificate of another name, whatever its address", async () => {
		const { address, seen } = await startTlsAgent();
		const asked = renewThrough({
			address,
			serverName: agentServerName("elsewhere"),
			ca: fleet.certificate,
			identity: bearer(async () => "secret"),
		});
		await expect(asked).rejects.toThrow("xpdb-agent.elsewhere.svc");
		expect(seen).toEqual([]);
	});

	test("speaks TLS 1.3 only", async () => {
		const old = createTlsServer({
			cert: agent.certificate,
			key: agent.key,
			maxVersion: "TLSv1.2",
			ALPNProtocols: ["h2"],
		});
		old.on("tlsClientError", () => undefined);
		await new Promise<void>((resolve) => void old.listen(0, "127.0.0.1", resolve));
		cleanups.push(() => old.close());
		const { port } = old.address() as AddressInfo;
		const identity = bearer(async () => "secret");
		const asked = renewThrough({ address: `127.0.0.1:${port}`, serverName, ca: fleet.certificate, identity });
		await expect(asked).rejects.toBeInstanceOf(AgentUnavailableError);
	});

	test("says what is wrong where there is no token", async () => {
		const { address } = await startTlsAgent();
		const options = { address, serverName, ca: fleet.certificate };
		const rows: [Error, new (...rest: never[]) => Error][] = [
			[new AgentForbiddenError("cannot create a token for xpdb-operator: forbidden"), AgentForbiddenError],
			[new AgentUnavailableError("cannot reach the API server", "c1"), AgentUnavailableError],
			[new TypeError("a bug"), AgentForbiddenError],
		];
		for (const [problem, expected] of rows) {
			const asked = renewThrough({ ...options, identity: bearer(() => Promise.reject(problem)) });
			await expect(asked).rejects.toBeInstanceOf(expected);
			await expect(asked).rejects.toThrow(problem.message);
		}
	});

	test("does not send a token that no header can carry, shows nothing of it, and ends the call", async () => {
		const { address, seen } = await startTlsAgent();
		for (const token of ["secret\nx: y", ""]) {
			const identity = bearer(async () => token);
			const asked = renewThrough({ address, serverName, ca: fleet.certificate, identity });
			await expect(asked).rejects.toThrow(/it is empty or has characters that no header can carry/);
			await expect(asked).rejects.not.toThrow(/secret/);
		}
		expect(seen).toEqual([]);
	});

	test("trusts no other member's agent, nor one that names none, where it knows whom it dials", async () => {
		const { address, seen } = await startTlsAgent();
		const options = { address, serverName, ca: fleet.certificate, identity: bearer(async () => "secret") };
		const asked = renewThrough({ ...options, member: "another-id" });
		await expect(asked).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(asked).rejects.toThrow(`is for cluster id "${clusterId}", not for cluster id "another-id"`);
		agent = await fleet.issue({ commonName: "xpdb-agent", dnsNames: [serverName], usages: ["server"] });
		const old = await startTlsAgent();
		await expect(renewThrough({ ...options, address: old.address, member: clusterId })).rejects.toThrow(
			"is for no one cluster",
		);
		expect([...seen, ...old.seen]).toEqual([]);
		agent = await issueAgentCertificate(fleet, { clusterId });
		const right = await startTlsAgent();
		await renewThrough({ ...options, address: right.address, member: clusterId });
		expect(right.seen).toHaveLength(1);
	});

	test("sends nothing more over a connection whose certificate expired meanwhile", async () => {
		agent = await issueAgentCertificate(fleet, { clusterId, validForMs: 60_000 });
		const { address, seen } = await startTlsAgent();
		let now = Date.now();
		const identity = bearer(async () => "secret");
		const options = { address, serverName, ca: fleet.certificate, identity, wallClock: () => now };
		const client = createAgentClient(options);
		cleanups.push(() => client.close());
		const cluster = new RemoteCluster({ id: clusterId, name: "eu-1", client });
		await cluster.renew(acquisition);
		now += 61_000;
		const asked = cluster.renew(acquisition);
		await expect(asked).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(asked).rejects.toThrow(
			/^cannot get an answer to Renew from the agent of cluster "eu-1": no connection: certificate has expired at /,
		);
		expect(seen).toHaveLength(1);
	});

	test("trusts agents of each CA in a bundle, and takes no bundle of which a part cannot be read", async () => {
		const { address, seen } = await startTlsAgent();
		const identity = bearer(async () => "secret");
		const options = { address, serverName, identity };
		await renewThrough({ ...options, ca: `# old\n${stranger.certificate}# new\n${fleet.certificate}` });
		expect(seen).toHaveLength(1);
		const half = fleet.certificate.slice(0, fleet.certificate.length / 2);
		for (const ca of [`${stranger.certificate}${half}`, `${stranger.certificate}${half}${fleet.certificate}`]) {
			expect(() => createAgentClient({ ...options, ca })).toThrow("cannot read the fleet's CA");
		}
	});

	test("refuses a CA that is no certificate", () => {
		const options = { address: "127.0.0.1:1", serverName, ca: "nonsense", identity: bearer(async () => "") };
		expect(() => createAgentClient(options)).toThrow("cannot read the fleet's CA: it is not a certificate in PEM");
	});
});

describe("createTokenSource()", () => {
	test("asks once for callers at once, and again only when most of the lifetime is over", async () => {
		let now = 0;
		let issued = 0;
		const token = createTokenSource(
			async () => ({ token: `token-${++issued}`, lifetimeMs: 1000 }),
			() => now,
		);
		expect(await Promise.all([token(), token()])).toEqual(["token-1", "token-1"]);
		now = 749;
		expect(await token()).toBe("token-1");
		now = 750;
		expect(await Promise.all([token(), token()])).toEqual(["token-2", "token-2"]);
	});

	test("keeps a token that is still good while no new one can be had, and no longer", async () => {
		let now = 0;
		let problem: Error | undefined;
		const token = createTokenSource(
			async () => {
				if (problem) throw problem;
				return { token: "token-1", lifetimeMs: 1000 };
			},
			() => now,
		);
		await token();
		problem = new AgentUnavailableError("cannot reach the API server", "c1");
		now = 900;
		expect(await token()).toBe("token-1");
		now = 1000;
		await expect(token()).rejects.toBe(problem);
		problem = undefined;
		expect(await token()).toBe("token-1");
	});

	test("counts the lifetime from before it asked", async () => {
		let now = 0;
		let issued = 0;
		const token = createTokenSource(
			async () => {
				now += 800;
				return { token: `token-${++issued}`, lifetimeMs: 1000 };
			},
			() => now,
		);
		expect(await token()).toBe("token-1");
		expect(await token()).toBe("token-2");
	});
});
