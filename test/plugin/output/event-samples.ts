// Samples of every kind of event, with and without its optional fields.
import type { RunEvent } from "../../../plugin/events/events.ts";

const pod = { context: "eu", namespace: "shop", pod: "db-0", uid: "0d1f", node: "n1" };
const named = { context: "eu", namespace: "shop", pod: "db-0" };
const node = { context: "eu", node: "n1" };
const members = [
	{ cluster: "europe", context: "eu", version: "0.1.0" },
	{ cluster: "us", version: "0.1.0" },
];
const member = { context: "eu", cluster: "europe", budget: "shop/db" };
const suspension = { by: "alice@laptop", since: "2026-01-01T00:00:00.000Z", reason: "storage migration" };
const message = "budget shop/db has no disruption left: 2 of 3 healthy, 2 required";

const unrecovered = {
	budget: "shop/pin",
	healthy: 2,
	expected: 3,
	missing: 0,
	usedBy: [{ cluster: "europe", namespace: "shop", pod: "pin-0", why: "NotReady", state: "Pending" }],
	message: "not recovered: shop/pin 2/3, shop/pin-0 in europe: Pending",
} as const;

type Samples = { readonly [Type in RunEvent["type"]]: readonly (RunEvent & { readonly type: Type })[] };

export const eventSamples = {
	"run.started": [
		{ type: "run.started", members, nodes: [node], pods: [], dryRun: "none" },
		{ type: "run.started", members: [], nodes: [], pods: [{ ...named, uid: "0d1f" }], dryRun: "server" },
	],
	"node.cordoned": [
		{ type: "node.cordoned", ...node, already: false, ours: true, dryRun: "none" },
		{ type: "node.cordoned", ...node, already: true, ours: false, dryRun: "client" },
	],
	"node.uncordoned": [{ type: "node.uncordoned", ...node, already: false, ours: true, dryRun: "none" }],
	"node.cordonFailed": [{ type: "node.cordonFailed", ...node, uncordon: false, message: "forbidden" }],
	"budget.suspended": [
		{ type: "budget.suspended", ...member, already: false, suspension, dryRun: "none" },
		{ type: "budget.suspended", ...member, already: true, dryRun: "client" },
	],
	"budget.unsuspended": [{ type: "budget.unsuspended", ...member, already: false, dryRun: "none" }],
	"budget.suspendFailed": [{ type: "budget.suspendFailed", ...member, unsuspend: false, message: "forbidden" }],
	"budget.takenBack": [
		{ type: "budget.takenBack", ...member, suspended: false, message: "taken back" },
		{ type: "budget.takenBack", ...member, message: "its API server gave no answer within 10s" },
	],
	"node.warning": [{ type: "node.warning", ...node, message: "ignoring DaemonSet-managed Pods: kube-system/ds-x" }],
	"node.draining": [{ type: "node.draining", ...node, pods: 3 }],
	"node.drained": [
		{ type: "node.drained", ...node, dryRun: "none" },
		{ type: "node.drained", ...node, dryRun: "server" },
	],
	"node.failed": [
		{ type: "node.failed", ...node, reason: "BudgetExhausted", why: message, errors: ["no"], pending: ["db-0"] },
	],
	"run.failed": [{ type: "run.failed", errors: ["no"] }],
	"nodes.pending": [{ type: "nodes.pending", nodes: [node] }],
	"pod.evicting": [
		{ type: "pod.evicting", ...pod, dryRun: "none", deletes: false, budgets: ["shop/db"], attempt: 1 },
		{ type: "pod.evicting", ...named, dryRun: "client", deletes: true, budgets: [], attempt: 2 },
	],
	"pod.retrying": [{ type: "pod.retrying", ...pod, reason: "DisruptionBudget", message, retryAfterMs: 5_000 }],
	"pod.waiting": [
		{
			type: "pod.waiting",
			...pod,
			reason: "BudgetExhausted",
			message,
			budget: "shop/db",
			need: 2,
			healthy: 2,
			expected: 3,
			retryAfterMs: 300,
			usedBy: [
				{ cluster: "us", namespace: "shop", pod: "db-1", why: "Reserved", holder: "bob", sinceSeconds: 1_767_225_600 },
				{
					cluster: "us",
					namespace: "shop",
					pod: "db-2",
					why: "NotReady",
					state: "Pending",
					message: "0/3 nodes are available",
					sinceSeconds: 1_767_225_600,
				},
				{ cluster: "us", namespace: "shop", pod: "db-3", why: "Reserved", holder: "bob", sinceSeconds: 1e18 },
			],
		},
		{ type: "pod.waiting", ...named, reason: "FleetsDiffer", message: "fleets differ", usedBy: [], dryRun: "server" },
	],
	"pod.accepted": [{ type: "pod.accepted", ...pod, waitedMs: 12.7, graceSeconds: 30 }],
	"pod.gone": [{ type: "pod.gone", ...pod, waitedMs: 0 }],
	"pod.stopped": [{ type: "pod.stopped", ...pod, waitedMs: 1.2 }],
	"pod.skipped": [{ type: "pod.skipped", ...pod, message: "skipping" }],
	"pod.evicted": [{ type: "pod.evicted", ...pod, deletes: false, elapsedMs: 1_000.4 }],
	"pod.failed": [
		{ type: "pod.failed", ...pod, reason: "TimedOut", message, deletes: false, accepted: true, waitedMs: 3 },
	],
	"budget.changed": [
		{
			type: "budget.changed",
			budget: "shop/db",
			healthy: 5,
			need: 5,
			expected: 6,
			left: 0,
			clusters: [
				{ name: "europe", healthy: 3, expected: 3 },
				{ name: "us", healthy: 2 },
			],
		},
		{ type: "budget.changed", budget: "shop/db", healthy: 0, clusters: [] },
		{
			type: "budget.changed",
			budget: "shop/db",
			healthy: 5,
			need: 5,
			expected: 6,
			left: 0,
			clusters: [
				{ name: "europe", healthy: 3, expected: 3 },
				{ name: "us", healthy: 2, expected: 3 },
			],
			usedBy: [
				{
					cluster: "us",
					namespace: "shop",
					pod: "db-1",
					why: "NotReady",
					state: "Pending",
					message: "0/3 nodes are available",
					sinceSeconds: 1_767_225_600,
				},
			],
		},
	],
	"budget.unknown": [{ type: "budget.unknown", budget: "shop/db", message: "us: no answer" }],
	"budget.notRecovered": [
		{ type: "budget.notRecovered", ...unrecovered },
		{ type: "budget.notRecovered", budget: "shop/db", missing: 0, usedBy: [], message: "not known: no answer" },
	],
	plan: [
		{
			type: "plan",
			nodes: 2,
			pods: 14,
			waits: 3,
			impossible: 0,
			perNode: [{ ...node, pods: 14 }],
			etaSeconds: [40, 90],
		},
		{ type: "plan", nodes: 1, pods: 1, waits: 1, impossible: 0, perNode: [], etaSeconds: [5, null] },
	],
	"lease.acquired": [
		{ type: "lease.acquired", budget: "shop/db", cluster: "us", holder: "bob", ttlSeconds: 15, waitedMs: 3.4 },
	],
	"lease.released": [{ type: "lease.released", budget: "shop/db", cluster: "us", heldMs: 41.2 }],
	"lease.lost": [{ type: "lease.lost", budget: "shop/db", cluster: "us", heldMs: 15_000.2, message: "taken over" }],
	"lease.waiting": [
		{ type: "lease.waiting", budget: "shop/db", cluster: "us", holder: "bob", position: 2, heldForMs: 4_000.5 },
		{ type: "lease.waiting", budget: "shop/db", cluster: "europe", holder: "bob", position: 2, heldForMs: 4_000.5 },
	],
	"cluster.unreachable": [
		{ type: "cluster.unreachable", cluster: "us", message: "no answer", elapsedMs: 12.5 },
		{ type: "cluster.unreachable", cluster: "europe", message: "no answer", elapsedMs: 12.5 },
	],
	"cluster.recovered": [{ type: "cluster.recovered", cluster: "us", elapsedMs: 2_000.5 }],
	diagnostic: [
		{ type: "diagnostic", level: "warning", context: "eu", message: "no agent" },
		{ type: "diagnostic", level: "error", reason: "TimedOut", message: "not recovered" },
	],
	"login.started": [{ type: "login.started", contexts: ["eu", "us"], command: "aws" }],
	"login.ended": [
		{ type: "login.ended", contexts: ["eu", "us"], command: "aws", elapsedMs: 12_345.6 },
		{
			type: "login.ended",
			contexts: ["eu"],
			command: "aws",
			elapsedMs: 10,
			message: "exec: executable aws failed with exit code 1",
		},
	],
	progress: [
		{
			type: "progress",
			podsDone: 1,
			failed: 0,
			podsTotal: 4,
			nodesDone: 0,
			nodesTotal: 2,
			waiting: 1,
			terminating: 1,
			waits: [
				{
					pods: 1,
					reason: "BudgetExhausted",
					budget: "shop/db",
					usedBy: [{ cluster: "us", namespace: "shop", pod: "db-1", why: "Reserved", holder: "alice", own: true }],
				},
			],
		},
	],
	paused: [{ type: "paused", accepted: 1 }],
	resumed: [{ type: "resumed", pausedMs: 5_000.4 }],
	interrupted: [{ type: "interrupted", accepted: 1, graceSeconds: 30 }],
	summary: [
		{
			type: "summary",
			command: "drain",
			op: "7f3c2a",
			exitCode: 130,
			interrupted: true,
			evicted: 1,
			failed: 0,
			drained: [{ context: "eu", node: "n0" }],
			notDrained: [{ ...node, reason: "Interrupted", message: "stopped" }],
			cordoned: [node],
			uncordoned: [],
			notRecovered: [unrecovered],
			longestWaitMs: 12.5,
			terminating: [{ context: "eu", namespace: "shop", pod: "db-0", uid: "u0", node: "n1" }],
			resume: "kubectl xpdb drain eu/n1",
			undo: "kubectl xpdb uncordon eu/n1",
		},
	],
} as const satisfies Samples;
