import { credentials } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { AgentProtocolError } from "../../disruption/errors.ts";
import { BoundedAgentClient, refuseOversized } from "../../proto/bounded-answers.ts";
import { mostBudgets } from "../../proto/most-budgets.ts";
import * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import { budgetListMessage } from "../../proto/wire-calls.ts";
import { countMessage } from "../../proto/wire-count.ts";
import { memberBudget, newCount, newSpec, presentPod } from "../support/build-count.ts";
import { startScriptedAgent } from "../support/scripted-agent.ts";

const budgets = (count: number) =>
	Array.from({ length: count }, (_, index) =>
		memberBudget(newSpec({ maxUnavailable: 1 }), { namespace: "shop", name: `db-${index}` }),
	);
const list = (count: number) => budgetListMessage({ clusterId: "eu", fleetHash: "h", budgets: budgets(count) });
const counted = (count: number) => countMessage(newCount("eu", { budgets: budgets(count) }));

const rows = [
	{ method: "listBudgets", of: (count: number) => wire.ListBudgetsResponse.encode(list(count)) },
	{
		method: "describe",
		of: (count: number) => wire.DescribeResponse.encode(wire.DescribeResponse.fromPartial({ budgets: list(count) })),
	},
	{
		method: "describe",
		of: (count: number) =>
			wire.DescribeResponse.encode(wire.DescribeResponse.fromPartial({ others: [{ budgets: list(count) }] })),
	},
	{
		method: "count",
		of: (count: number) => wire.CountResponse.encode(wire.CountResponse.fromPartial({ count: counted(count) })),
	},
	{
		method: "acquire",
		of: (count: number) =>
			wire.AcquireResponse.encode(
				wire.AcquireResponse.fromPartial({ outcome: { $case: "acquired", value: { count: counted(count) } } }),
			),
	},
	{
		method: "watchBudgets",
		of: (count: number) =>
			wire.WatchBudgetsResponse.encode(
				wire.WatchBudgetsResponse.fromPartial({
					changed: [{ state: { $case: "count", value: counted(count) } }],
				}),
			),
	},
	{
		method: "watchBudgets",
		of: (count: number) =>
			wire.WatchBudgetsResponse.encode(
				wire.WatchBudgetsResponse.fromPartial({
					changed: budgets(count).map(({ name }) => ({ budget: { name } })),
				}),
			),
	},
] as const;

describe("refuseOversized()", () => {
	for (const { method, of } of rows) {
		test(`lets ${mostBudgets} budgets pass in an answer to ${method}, and no more`, () => {
			expect(() => refuseOversized(method, of(mostBudgets).finish())).not.toThrow();
			expect(() => refuseOversized(method, of(mostBudgets + 1).finish())).toThrow(
				`it lists more than ${mostBudgets} budgets`,
			);
		});
	}

	test("counts what a message has besides", () => {
		const labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`l${index}`, "x"]));
		const answer = (pods: number): Uint8Array => {
			const candidates = Array.from({ length: pods }, (_, index) => presentPod(`db-${index}`, { labels }));
			const count = countMessage(newCount("eu", { candidates }));
			return wire.CountResponse.encode(wire.CountResponse.fromPartial({ count })).finish();
		};
		expect(() => refuseOversized("count", answer(50))).not.toThrow();
		expect(() => refuseOversized("count", answer(110))).toThrow(AgentProtocolError);
		// Each part has two bytes: a tag, and the length 0.
		expect(() => refuseOversized("listLeases", Buffer.from("1200".repeat(200_000), "hex"))).toThrow("parts");
	});
});

test("a member that lists too many budgets is refused by name", async () => {
	await using agent = await startScriptedAgent({
		listBudgets: (_call, callback) => callback(null, { ...list(mostBudgets + 1), clusterId: "id-eu" }),
	});
	const client = new BoundedAgentClient(agent.address, credentials.createInsecure());
	try {
		const asked = new RemoteCluster({ id: "id-eu", name: "eu", client }).listBudgets(["shop"]);
		await expect(asked).rejects.toThrow(AgentProtocolError);
		await expect(asked).rejects.toThrow(/ListBudgets.*"eu".*more than 5000 budgets/);
	} finally {
		client.close();
	}
});
