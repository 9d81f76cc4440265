// Makes records of runs for pictures, in the form of -o json.

const startedAt = Date.parse("2026-01-01T12:00:00Z");

/** Returns the lines of a record. Each event happens at its second of the run. */
export function recordLines(events: readonly (readonly [second: number, event: object])[]): readonly string[] {
	return events.map(([second, event], seq) =>
		JSON.stringify({ ...event, ts: new Date(startedAt + second * 1_000).toISOString(), seq }),
	);
}

const db0 = { context: "eu", node: "n1", pod: "shop/db-0", uid: "u0" };
const db1 = { context: "us", node: "n4", pod: "shop/db-1", uid: "u1" };
const usedBy = [
	{ context: "eu", cluster: "europe", pod: "shop/db-0", why: "Terminating", holder: "alice@laptop drain" },
];

/** A drain of two nodes in two clusters under one budget, with an outage and a wait. */
export const drainRecord = recordLines([
	[
		0,
		{
			type: "version",
			schema: "xpdb.events/1.0",
			client: "v0.1.0",
			command: "drain",
			commandLine: "kubectl xpdb drain n1 n4 --contexts=eu,us",
			agents: { eu: "0.1.0", us: "0.1.0" },
			op: "7f3c2a",
		},
	],
	[0, { type: "run.started", nodes: ["eu/n1", "us/n4"], pods: [] }],
	[1, { type: "node.cordoned", context: "eu", node: "n1", already: false }],
	[1, { type: "node.cordoned", context: "us", node: "n4", already: false }],
	[
		2,
		{ type: "budget.changed", budget: "shop/db", healthy: 3, need: 2, expected: 3, left: 1, limit: 1, perContext: {} },
	],
	[2, { type: "pod.evicting", ...db0, deletes: false, budgets: ["shop/db"], attempt: 1 }],
	[3, { type: "pod.accepted", ...db0, waitedMs: 2_000 }],
	[
		4,
		{
			type: "pod.waiting",
			...db1,
			reason: "BudgetExhausted",
			message: "pod shop/db-1 waits for <budget> shop/db",
			budget: "shop/db",
			need: 2,
			healthy: 2,
			expected: 3,
			usedBy,
		},
	],
	[10, { type: "context.unreachable", context: "us", cluster: "us", message: "no answer", ms: 3_000 }],
	[13, { type: "pod.evicted", ...db0, deletes: false, ms: 12_000 }],
	[13, { type: "node.drained", context: "eu", node: "n1" }],
	[20, { type: "context.recovered", context: "us", cluster: "us", ms: 10_000 }],
	[
		64,
		{ type: "budget.changed", budget: "shop/db", healthy: 3, need: 2, expected: 3, left: 1, limit: 1, perContext: {} },
	],
	[64, { type: "pod.evicting", ...db1, deletes: false, budgets: ["shop/db"], attempt: 2 }],
	[64, { type: "pod.accepted", ...db1, waitedMs: 60_000 }],
	[
		66,
		{
			type: "pod.failed",
			...db1,
			reason: "TimedOut",
			message: "its end was not seen",
			deletes: false,
			accepted: true,
			waitedMs: 62_000,
		},
	],
	[
		66,
		{
			type: "node.failed",
			context: "us",
			node: "n4",
			reason: "TimedOut",
			message: "db-1 did not end",
			errors: [],
			pending: [],
		},
	],
	[
		67,
		{
			type: "summary",
			command: "drain",
			op: "7f3c2a",
			exitCode: 1,
			result: "failed",
			evicted: 1,
			failed: 1,
			drained: ["eu/n1"],
			notDrained: [{ node: "us/n4", reason: "TimedOut", message: "db-1 did not end" }],
			cordoned: ["us/n4"],
			uncordoned: [],
			longestWaitMs: 60_000,
			resume: "kubectl xpdb drain --resume 7f3c2a --contexts=eu,us",
		},
	],
]);

/** A drain of sixty pods with very long names and reasons, within four seconds. */
export const longRecord = recordLines([
	[
		0,
		{
			type: "version",
			schema: "xpdb.events/1.0",
			client: "v0.1.0",
			command: "drain",
			commandLine: "kubectl xpdb drain",
		},
	],
	...Array.from({ length: 60 }, (_, index) => {
		const pod = {
			context: `arn:aws:eks:eu-central-1:123456789012:cluster/production-${index % 2}`,
			node: `ip-10-12-${index % 4}-117.eu-central-1.compute.internal`,
			pod: `payments-and-settlements/${"a-very-long-name-of-a-pod-".repeat(3)}${index}`,
			uid: `u${index}`,
		};
		const budget = `payments-and-settlements/${"budget".repeat(9)}`;
		const message = `pod ${pod.pod} waits: budget ${budget} has no disruption left: 59 of 60 healthy, 59 required`;
		return [
			[index / 20, { type: "budget.changed", budget, healthy: 60 - (index % 2), need: 59, expected: 60 }],
			[index / 20, { type: "pod.waiting", ...pod, reason: "BudgetExhausted", message, budget, usedBy }],
			[index / 20 + 0.02, { type: "pod.evicting", ...pod, budgets: [budget] }],
			[index / 20 + 0.03, { type: "pod.accepted", ...pod, waitedMs: 20 }],
			[index / 20 + 0.04, { type: "pod.evicted", ...pod }],
		] as const;
	}).flat(),
	[4, { type: "diagnostic", level: "warning", context: "eu", message: "x".repeat(300) }],
]);
