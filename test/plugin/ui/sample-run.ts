// Plays a drain of three clusters up to 02:41: one waits for a budget, one has just evicted a pod, and one has queued nodes.
import type { RunEvent } from "../../../plugin/events/events.ts";
import { RunFacts } from "../../../plugin/ui/run-facts.ts";

export const startedAt = Date.UTC(2026, 10, 20, 12, 2, 0);
const members = ["prod-eu", "prod-us", "prod-ap"].map((context) => ({ cluster: context, context, version: "0.1.0" }));
const at = (context: string, node: string, namespace: string, pod: string) => ({
	context,
	node,
	namespace,
	pod,
	uid: `${context}-${pod}`,
});
const nodes = [
	{ context: "prod-eu", node: "node-eu-03", pods: 2 },
	{ context: "prod-eu", node: "node-eu-07", pods: 8 },
	{ context: "prod-us", node: "node-us-02", pods: 15 },
	{ context: "prod-ap", node: "node-ap-01", pods: 7 },
	{ context: "prod-ap", node: "node-ap-04", pods: 5 },
] as const;
const needs = "budget payments/api has no disruption left: 16 of 18 healthy, 16 required";

/** The events, each with the second of the run at which it happens. */
export const sampleEvents: readonly (readonly [second: number, event: RunEvent])[] = [
	[
		0,
		{
			type: "run.started",
			members,
			nodes: nodes.map(({ context, node }) => ({ context, node })),
			pods: [],
			dryRun: "none",
		},
	],
	[1, { type: "plan", nodes: 5, pods: 37, waits: 3, impossible: 0, perNode: nodes, etaSeconds: [240, 420] }],
	...nodes.map(
		({ context, node }) =>
			[2, { type: "node.cordoned", context, node, already: false, ours: true, dryRun: "none" }] as const,
	),
	[3, { type: "node.draining", context: "prod-eu", node: "node-eu-03", pods: 2 }],
	[3, { type: "node.draining", context: "prod-us", node: "node-us-02", pods: 15 }],
	[3, { type: "node.draining", context: "prod-ap", node: "node-ap-01", pods: 7 }],
	...["web-1", "web-2"].flatMap((pod) => {
		const each = at("prod-eu", "node-eu-03", "shop", pod);
		return [
			[4, { type: "pod.evicting", ...each, dryRun: "none", deletes: false, budgets: [], attempt: 1 }],
			[5, { type: "pod.accepted", ...each, waitedMs: 1_000, graceSeconds: 30 }],
			[40, { type: "pod.evicted", ...each, deletes: false, elapsedMs: 36_000 }],
		] as const;
	}),
	[72, { type: "node.drained", context: "prod-eu", node: "node-eu-03", dryRun: "none" }],
	[72, { type: "node.draining", context: "prod-eu", node: "node-eu-07", pods: 8 }],
	[
		100,
		{
			type: "node.warning",
			context: "prod-us",
			node: "node-us-02",
			message: "ignoring DaemonSet-managed Pods: kube-system/ds-x",
		},
	],
	[
		140,
		{
			type: "budget.changed",
			budget: "payments/api",
			healthy: 17,
			need: 16,
			expected: 18,
			left: 1,
			clusters: ["prod-eu", "prod-us", "prod-ap"].map((name) => ({
				name,
				healthy: name === "prod-ap" ? 5 : 6,
				expected: 6,
			})),
		},
	],
	[
		141,
		{
			type: "pod.evicting",
			...at("prod-eu", "node-eu-07", "payments", "api-7c9d4-x2xqz"),
			dryRun: "none",
			deletes: false,
			budgets: ["payments/api"],
			attempt: 1,
		},
	],
	[
		149,
		{
			type: "pod.accepted",
			...at("prod-eu", "node-eu-07", "payments", "api-7c9d4-x2xqz"),
			waitedMs: 9,
			graceSeconds: 30,
		},
	],
	[
		120,
		{
			type: "pod.accepted",
			...at("prod-ap", "node-ap-01", "payments", "ledger-2"),
			waitedMs: 12,
			graceSeconds: 120,
		},
	],
	...["api-7c9d4-kk2lm", "api-7c9d4-p0z8v"].map(
		(pod, index) =>
			[
				150 + index,
				{
					type: "pod.waiting",
					...at("prod-us", "node-us-02", "payments", pod),
					reason: "BudgetExhausted",
					message: needs,
					budget: "payments/api",
					need: 16,
					healthy: 16,
					expected: 18,
					retryAfterMs: 5_000,
					usedBy: [
						{
							cluster: "prod-eu",
							namespace: "payments",
							pod: "api-7c9d4-x2xqz",
							why: "Terminating",
							state: "Terminating",
							holder: "alice@laptop drain 7f3c2a",
							sinceSeconds: startedAt / 1_000 + 149,
						},
						{
							cluster: "prod-ap",
							namespace: "payments",
							pod: "api-7c9d4-9mm4t",
							why: "NotReady",
							state: "Pending",
							message: "0/3 nodes are available: 3 Insufficient cpu.",
							sinceSeconds: startedAt / 1_000 - 10_000,
						},
					],
				},
			] as const,
	),
	[
		155,
		{
			type: "budget.changed",
			budget: "search/indexer",
			healthy: 9,
			need: 8,
			expected: 9,
			left: 1,
			clusters: [{ name: "prod-eu", healthy: 3, expected: 3 }],
		},
	],
];

export function sampleFacts(): RunFacts {
	const facts = new RunFacts();
	for (const [second, event] of sampleEvents) facts.see(event, startedAt + second * 1_000);
	return facts;
}
