import dns from "node:dns";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { parseConfig } from "../../agent/process/config.ts";
import { createLogger } from "../../agent/process/log.ts";
import { createSmallCertificates } from "../../demo/apiserver/small-certificates.ts";
import { startSmallCluster } from "../../demo/apiserver/small-cluster.ts";
import { createAuthority, issueAgentCertificate } from "../../demo/machine/certificates.ts";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { hasIpv6Loopback, whyWithoutIpv6 } from "../support/ipv6-loopback.ts";

async function freePort(): Promise<number> {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	server.close();
	return port;
}

function accepts(port: number, host = "127.0.0.1"): Promise<boolean> {
	const socket = connect(port, host);
	return once(socket, "connect")
		.then(
			() => true,
			() => false,
		)
		.finally(() => socket.destroy());
}

/** Starts a small cluster. Returns the flags of an agent of it. */
async function startCluster(stack: AsyncDisposableStack): Promise<readonly string[]> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-listening-"));
	stack.defer(() => rmSync(dir, { recursive: true, force: true }));
	const certificates = await createSmallCertificates("c1", dir);
	const cluster = await startSmallCluster({ name: "c1", dir, certificates, dialPod: () => undefined });
	stack.defer(() => cluster.stop());
	const { pairs, authority } = certificates;
	const { server } = cluster;
	const entry = { context: "c1", cluster: "c1", server, authority: authority.certificate, user: "admin" };
	writeKubeconfig(join(dir, "config"), [{ ...entry, credentials: pairs.admin }]);
	const fleet = await createAuthority("xpdb-fleet-ca");
	const pair = await issueAgentCertificate(fleet, { clusterId: cluster.id });
	const files = { "tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": fleet.certificate };
	for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
	return [
		`--tls-cert-file=${join(dir, "tls.crt")}`,
		`--tls-private-key-file=${join(dir, "tls.key")}`,
		`--client-ca-file=${join(dir, "ca.crt")}`,
		`--kubeconfig=${join(dir, "config")}`,
		"--cluster-name=c1",
		"--pod-name=agent",
		"--pod-namespace=xpdb-system",
		"--pod-ip=127.0.0.1",
	];
}

async function createAgent(flags: readonly string[]): Promise<Agent> {
	const config = await parseConfig(flags, {});
	if ("help" in config) throw new Error("help instead of a configuration");
	return new Agent({ config, env: {}, log: createLogger("error", { write: () => undefined }) });
}

test("an agent that is stopped while its second port opens closes the first one", async () => {
	await using stack = new AsyncDisposableStack();
	const flags = await startCluster(stack);
	const port = await freePort();
	const { promise: lookedUp, resolve: lookUp } = Promise.withResolvers<() => void>();
	const lookup = dns.lookup.bind(dns) as (...args: readonly unknown[]) => void;
	const slow = (...args: readonly unknown[]): void => {
		const done = args.at(-1) as (error: Error) => void;
		if (args[0] === "slow.example") lookUp(() => done(new Error("not found")));
		else lookup(...args);
	};
	vi.spyOn(dns, "lookup").mockImplementation(slow);
	stack.defer(() => void vi.restoreAllMocks());
	const agent = await createAgent([
		...flags,
		`--listen-address=127.0.0.1:${port}`,
		"--peer-listen-address=slow.example:0",
		"--http-listen-address=127.0.0.1:0",
	]);
	const started = agent.start().catch((error: unknown) => error);
	const fail = await lookedUp;
	await expect.poll(() => accepts(port)).toBe(true);
	await agent.stop();
	expect(await accepts(port)).toBe(false);
	fail();
	expect(await started).toMatchObject({ message: expect.stringContaining("cannot listen on slow.example:0") });
});

test.skipIf(!hasIpv6Loopback)(
	`an agent of a dual-stack pod accepts all callers at both addresses${whyWithoutIpv6}`,
	async () => {
		await using stack = new AsyncDisposableStack();
		const flags = await startCluster(stack);
		const [listen, peers, http] = await Promise.all([freePort(), freePort(), freePort()]);
		const agent = await createAgent([
			...flags,
			"--pod-ips=127.0.0.1,::1",
			`--listen-address=:${listen}`,
			`--peer-listen-address=:${peers}`,
			`--http-listen-address=:${http}`,
		]);
		stack.defer(() => agent.stop());
		await agent.start();
		for (const host of ["127.0.0.1", "::1"]) {
			for (const port of [listen, peers, http]) expect(await accepts(port, host), `${host}, port ${port}`).toBe(true);
		}
	},
);
