// Tests a member whose agent lies, sends endless data or stays silent. A run that asks through another member ends in time and evicts
// nothing, and that member's agents stay healthy.
import { readFileSync } from "node:fs";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { ServerCredentials } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { agentServerName, createAgentClient } from "../../../proto/credentials.ts";
import type { AgentServiceServer, Budget, DescribeResponse } from "../../../proto/gen/xpdb/v1/agent.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { startScriptedAgent } from "../../support/scripted-agent.ts";
import { createDatabase } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { here } from "../faults/recovery-limits.ts";
import { plugin } from "../plugin-process.ts";
import { declareFleet } from "./declare-fleet.ts";
import { agentFile, clusterOf, pairOf, peerAddressOf } from "./member-agent.ts";
import { expectToBeWell, firstAgent, watchAgent } from "./watched-agent.ts";

const timeoutMs = 4_000;
/** The timeout, and time to start and end the program. */
const endsWithinMs = timeoutMs + 2_000;

const liar = "c2";
const cleanups: (() => Promise<void>)[] = [];
async function cleanUp(): Promise<void> {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** Returns the certificate of the member's real agents, because only its answers are wrong. */
function ownPair(): { readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer } {
	const { certificate, key } = pairOf(clusterOf(liar));
	return {
		ca: readFileSync(agentFile(clusterOf(liar), "fleet-ca.crt")),
		certificate: Buffer.from(certificate),
		key: Buffer.from(key),
	};
}

/** Answers as the member's real agents do, but with a changed description. */
function describesItself(change: (truth: DescribeResponse) => DescribeResponse): Partial<AgentServiceServer> {
	const { ca, certificate, key } = ownPair();
	const client = createAgentClient({
		address: peerAddressOf(clusterOf(liar)),
		serverName: agentServerName("xpdb-system"),
		ca: ca.toString(),
		identity: { kind: "certificate", certificate: certificate.toString(), privateKey: key.toString() },
		member: clusterOf(liar).id,
	});
	cleanups.push(async () => client.close());
	return {
		describe: (call, answer) =>
			void client.describe(call.request, call.metadata, (error, truth) => answer(error, truth && change(truth))),
		// A slow run lists the budgets again.
		listBudgets: (call, answer) =>
			void client.listBudgets(call.request, call.metadata, (error, truth) => answer(error, truth)),
	};
}

async function answersAs(handlers: Partial<AgentServiceServer>): Promise<string> {
	const { ca, certificate, key } = ownPair();
	const credentials = ServerCredentials.createSsl(ca, [{ cert_chain: certificate, private_key: key }], false);
	const agent = await startScriptedAgent(handlers, credentials);
	cleanups.push(async () => agent[Symbol.asyncDispose]());
	return agent.address;
}

async function answersByteByByte(): Promise<string> {
	const { certificate, key } = ownPair();
	const server: Http2SecureServer = createSecureServer({ cert: certificate, key, minVersion: "TLSv1.3" });
	server.on("stream", (stream) => {
		stream.on("error", () => undefined);
		stream.respond({ ":status": 200, "content-type": "application/grpc" });
		const drip = setInterval(() => void stream.write(Buffer.from([0])), 1_000);
		stream.on("close", () => clearInterval(drip));
	});
	server.on("session", (session) => cleanups.push(async () => session.destroy()));
	const { promise, resolve } = Promise.withResolvers<void>();
	server.listen(0, "127.0.0.1", resolve);
	await promise;
	cleanups.push(async () => void server.close());
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The server has no port");
	return `127.0.0.1:${address.port}`;
}

const thousands: readonly Budget[] = Array.from({ length: 20_000 }, (_, index) => ({
	name: { namespace: "lies", name: `budget-${index}` },
	specJson: JSON.stringify({ selector: { matchLabels: { app: `app-${index}` } }, maxUnavailable: 0 }),
}));

interface Lie {
	readonly what: string;
	readonly says: string;
	readonly answers: () => Promise<string>;
}

const lies: readonly Lie[] = [
	{
		what: "lists 20,000 budgets",
		says: "it lists more than 5000 budgets",
		answers: async () => {
			const listed = { clusterId: clusterOf(liar).id, fleetHash: "", budgets: [...thousands] };
			return answersAs({
				...describesItself((truth) => ({ ...truth, budgets: { ...listed, fleetHash: truth.fleetHash } })),
				listBudgets: (_call, answer) => answer(null, listed),
			});
		},
	},
	{
		what: "sends 64 MB",
		says: liar,
		answers: async () => answersAs(describesItself((truth) => ({ ...truth, version: "x".repeat(64 * 1024 * 1024) }))),
	},
	{ what: "sends a byte a second", says: `${liar}: no answer so far`, answers: answersByteByByte },
	{
		what: "gives no Lease",
		says: `somebody holds the lease of budget`,
		answers: async () =>
			answersAs({
				...describesItself((truth) => truth),
				acquire: (call) => {
					let heldForMs = 0;
					const tell = (): void => {
						const value = { position: 1, holder: "somebody", heldForMs };
						call.write({ outcome: { $case: "held", value }, clusterId: clusterOf(liar).id });
						heldForMs += 1_000;
					};
					tell();
					const telling = setInterval(tell, 1_000);
					call.on("cancelled", () => clearInterval(telling));
				},
			}),
	},
];

describeOnFleet("beside a member that", () => {
	afterEach(cleanUp);

	test.each(lies)("$what an eviction ends in time, without having evicted", async ({ answers, says }) => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const address = await answers();
		for (const context of sharedFleet().contexts)
			await declareFleet(cleanups, context, (members) => ({
				members: members.map((member) => (member.name === liar ? { ...member, address } : member)),
			}));
		const ends = watchAgent(await firstAgent(clusterOf("c1")));
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		const askedAt = performance.now();
		const run = await plugin([...evictArgs(database, pod), "--timeout", `${timeoutMs / 1_000}s`]);
		const tookMs = performance.now() - askedAt;
		const seen = await ends();
		expect(run.code, run.stdout + run.stderr).not.toBe(0);
		expect(run.stderr).toContain(says);
		expect(tookMs, run.stderr).toBeLessThan(here(endsWithinMs));
		expect(await database.pods()).toHaveLength(3);
		expectToBeWell(seen);
	});
});
