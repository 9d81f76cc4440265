// Tests calls that an older agent does not know. Today's programs report the call by name, or continue without it if they are designed to.
// None of them takes the failure for an answer.
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentProtocolError } from "../../disruption/errors.ts";
import { AgentServiceClient, AgentServiceService } from "../../proto/gen/xpdb/v1/agent.ts";
import { greetAgent } from "../../proto/greet.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import { isUnimplemented } from "../../proto/status.ts";
import * as samples from "../support/samples.ts";
import { type ScriptedAgent, startScriptedAgent } from "../support/scripted-agent.ts";

const { acquisition, acquireRequest, budget, clusterId: id } = samples;
const { signal } = new AbortController();

describe("a call that an older agent does not know", () => {
	let agent: ScriptedAgent;
	let client: AgentServiceClient;
	let cluster: RemoteCluster;
	beforeAll(async () => {
		agent = await startScriptedAgent({});
		client = new AgentServiceClient(agent.address, credentials.createInsecure());
		cluster = new RemoteCluster({ id, name: "eu-1", client });
	});
	afterAll(async () => {
		client.close();
		await agent[Symbol.asyncDispose]();
	});

	const calls: Readonly<Record<string, () => Promise<unknown>>> = {
		Describe: () => cluster.describe(),
		Acquire: () => cluster.acquire(acquireRequest, { wait: false, signal }),
		Count: () => cluster.count(acquisition, acquireRequest),
		Renew: () => cluster.renew(acquisition),
		Commit: () => cluster.commit(acquisition, samples.grants),
		Release: () => cluster.release(acquisition),
		Confirm: () => cluster.confirm(budget, ["grant-1"]),
		Cancel: () => cluster.cancel(budget, ["grant-1"], { sent: true }),
		ListBudgets: () => cluster.listBudgets([]),
		ListLeases: () => cluster.listLeases([]),
		EndHolding: () => cluster.endHolding({ budget, leaseUid: "lease-uid", transitions: 1 }),
		Greet: () =>
			greetAgent(client, {
				to: { id, name: "eu-1" },
				greeting: { id: "id-2", name: "", memberIds: [] },
				deadlineMs: 5_000,
			}),
	};
	for (const [name, call] of Object.entries(calls)) {
		test(`is refused by its name: ${name}`, async () => {
			const error = await call().then(
				() => undefined,
				(reason: unknown) => reason,
			);
			expect(error).toBeInstanceOf(AgentProtocolError);
			expect(String(error)).toContain(
				`cannot get an answer to ${name} from the agent of cluster "eu-1": UNIMPLEMENTED`,
			);
			expect(isUnimplemented(error)).toBe(true);
		});
	}

	test("is left out where it is a watch of budgets, which callers do without", async () => {
		const updates: unknown[] = [];
		const options = { signal, onUpdate: (update: unknown) => updates.push(update) };
		expect(await cluster.watchBudgets([], options)).toEqual({ kind: "unsupported" });
		expect(updates).toEqual([]);
	});

	test("is tried here whichever it is", () => {
		const all = Object.values(AgentServiceService).map(({ path }) => path.split("/").at(-1));
		expect(new Set(all)).toEqual(new Set([...Object.keys(calls), "WatchBudgets"]));
	});
});
