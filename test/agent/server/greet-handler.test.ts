import { Metadata, status } from "@grpc/grpc-js";
import { beforeAll, describe, expect, test } from "vitest";
import { createAuthority, issueAgentCertificate, type KeyPair } from "../../../demo/machine/certificates.ts";
import { AgentForbiddenError, AgentProtocolError } from "../../../disruption/errors.ts";
import { createAgentClient } from "../../../proto/credentials.ts";
import { type Greeting, type GreetingReply, greetAgent, maxGreetedMembers } from "../../../proto/greet.ts";
import { writePassedOnCaller } from "../../../proto/passed-on.ts";
import { clusterId } from "../../support/samples.ts";
import { servedAgents, serverName } from "../../support/served-agent.ts";

const stranger = "0f0d2f60-0000-4000-8000-00000000000f";
const agents = servedAgents();
let pair: KeyPair;
beforeAll(async () => {
	pair = await issueAgentCertificate(agents.fleet(), { clusterId: stranger });
});

const reply: GreetingReply = { memberIds: [clusterId], listed: false, forgotten: true };

/** Greets an agent, by default from a cluster that the agent's fleet does not list. */
async function greet(change: Partial<Greeting> & { readonly pair?: KeyPair; readonly to?: string } = {}) {
	const { pair: own = pair, to = clusterId, ...greeting } = change;
	const received: Greeting[] = [];
	const greetings = {
		id: clusterId,
		name: "eu-1",
		receive: async (each: Greeting) => {
			received.push(each);
			return reply;
		},
	};
	const agent = await agents.serve({ greetings });
	const identity = { kind: "certificate", certificate: own.certificate, privateKey: own.key } as const;
	const client = createAgentClient({
		address: agent.peerAddress,
		serverName,
		ca: agents.fleet().certificate,
		identity,
	});
	try {
		const answer = await greetAgent(client, {
			to: { id: to, name: "eu-1" },
			greeting: { id: stranger, name: "us-1", memberIds: [clusterId, stranger], ...greeting },
			deadlineMs: 5_000,
		});
		return { answer, received, audit: agent.audit };
	} catch (error) {
		return { error, received, audit: agent.audit };
	} finally {
		client.close();
	}
}

describe("Greet", () => {
	test("takes any cluster with a certificate of the CA, a member or not", async () => {
		const { answer, received } = await greet();
		expect(answer).toEqual(reply);
		expect(received).toEqual([{ id: stranger, name: "us-1", memberIds: [clusterId, stranger] }]);
	});

	test("takes nobody who greets as another cluster than its certificate names", async () => {
		const { error, received, audit } = await greet({ id: clusterId });
		expect(error).toBeInstanceOf(AgentForbiddenError);
		expect(String(error)).toContain(`with a certificate for "${stranger}"`);
		expect(received).toEqual([]);
		expect(audit.map((line): unknown => JSON.parse(line))).toMatchObject([
			{ method: "Greet", port: "peer", member: stranger, outcome: "refused", code: "PERMISSION_DENIED" },
		]);
	});

	test("leaves no user in the audit line that only the greeter names: it need not be a member", async () => {
		const agent = await agents.serve({
			greetings: { id: clusterId, name: "eu-1", receive: () => Promise.reject(new Error("unexpected greeting")) },
		});
		const metadata = new Metadata();
		writePassedOnCaller(metadata, { user: "admin", tokenId: "JTI=1" });
		const request = { clusterId, fromId: clusterId, fromName: "eu-1", memberIds: [] };
		const { promise: refused, resolve } = Promise.withResolvers<unknown>();
		agent.clientForPeers(pair).greet(request, metadata, (error) => resolve(error));
		expect(await refused).toMatchObject({ code: status.PERMISSION_DENIED });
		expect(agent.audit).toHaveLength(1);
		const line: unknown = JSON.parse(agent.audit[0] ?? "");
		expect(line).toMatchObject({ method: "Greet", member: stranger, outcome: "refused" });
		expect(line).not.toHaveProperty("user");
		expect(line).not.toHaveProperty("tokenId");
	});

	test("takes no certificate that names no cluster, no agent, or is over", async () => {
		const fleet = agents.fleet();
		const dnsNames = [serverName];
		const pairs = {
			"no one cluster": await fleet.issue({ commonName: "x", dnsNames, usages: ["client"] }),
			"without a certificate for": await fleet.issue({
				commonName: "x",
				uris: [`xpdb://cluster/${stranger}`],
				usages: ["client"],
			}),
		};
		for (const [says, each] of Object.entries(pairs)) {
			const { error, received } = await greet({ pair: each });
			expect(error).toBeInstanceOf(AgentForbiddenError);
			expect(String(error)).toContain(says);
			expect(received).toEqual([]);
		}
		const foreign = await issueAgentCertificate(await createAuthority("another"), { clusterId: stranger });
		expect((await greet({ pair: foreign })).received).toEqual([]);
	});

	test("takes no greeting for another cluster, and none that is too long", async () => {
		const memberIds = Array.from({ length: maxGreetedMembers + 1 }, (_, index) => `id-${index}`);
		for (const change of [{ to: "another" }, { memberIds }, { memberIds: [""] }, { memberIds: ["x".repeat(254)] }]) {
			const { error, received } = await greet(change);
			expect(error).toBeInstanceOf(AgentProtocolError);
			expect(received).toEqual([]);
		}
	});

	test("is not for callers with a token, who could name clusters that are none", async () => {
		const agent = await agents.serve();
		const call = greetAgent(agent.clientForCallers(), {
			to: { id: clusterId, name: "eu-1" },
			greeting: { id: stranger, name: "us-1", memberIds: [] },
			deadlineMs: 5_000,
		});
		await expect(call).rejects.toBeInstanceOf(AgentForbiddenError);
	});
});
