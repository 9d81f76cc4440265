// Plays what a granted pod's eviction needs, with scripted answers: an agent, the members' lists of budgets, and an API server.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { budgetTerms } from "../../disruption/budget/budget-terms.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { type CurrentBudgets, evictUnderTicket, type Evictor } from "../../disruption/round/eviction.ts";
import type { EvictionAnswer, Ticket } from "../../disruption/round/ticket.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { acquired, committed, leaseDurationMs } from "../../disruption/lease/lease.ts";
import { budget, podReference } from "../support/build-count.ts";
import { newGrant } from "../support/build-lease.ts";
import { createManualRuntime } from "./manual-runtime.ts";
import { ScriptedCluster } from "./scripted-cluster.ts";

export type Found = Awaited<ReturnType<Evictor<string>["read"]>>;

export function foundPod(some: Partial<NonNullable<Found>> = {}): NonNullable<Found> {
	return { isTerminating: false, resourceVersion: "101", labels: { app: "db" }, preActivities: [], ...some };
}

export const zone: BudgetName = { namespace: "shop", name: "zone-a" };

/** Grants a pod under these budgets at version 100. The API server gives these answers, and then "accepted". */
export function grantPod(
	options: {
		readonly answers?: readonly EvictionAnswer<string>[];
		readonly mayBeSent?: () => boolean;
		/** The result of every read, or a function of the read's number. */
		readonly found?: Found | ((read: number) => Found);
		readonly changesEveryMs?: number;
		readonly ageMs?: number;
		readonly budgets?: readonly BudgetName[];
		/** Returns what the members list, and how long that takes. By default, the budgets that were counted. */
		readonly listed?: (list: number) => { readonly budgets?: readonly MemberBudget[]; readonly tookMs?: number };
		/** Returns how long each eviction waits before it is sent, in milliseconds. */
		readonly beforeSending?: (attempt: number) => number;
	} = {},
) {
	const calls: string[] = [];
	const cluster = new ScriptedCluster("eu", calls);
	const budgets = options.budgets ?? [budget];
	for (const name of budgets) {
		cluster.change(name, (lease) =>
			committed(
				acquired(lease, { holder: "drain-7f", nonce: "n", durationMs: leaseDurationMs }),
				[newGrant("db-0")],
				0,
			),
		);
	}
	const manual = createManualRuntime();
	let passedMs = 0;
	const runtime = { ...manual, now: () => manual.now() + passedMs };
	const asCounted = budgets.map(
		(name): MemberBudget => ({ name, spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 } }),
	);
	const member = { clusterId: "eu", clusterName: "eu", fleetHash: fleetHash(["eu"]) };
	let lists = 0;
	const current: CurrentBudgets = {
		async list(namespace) {
			lists += 1;
			const askedAt = runtime.now();
			const { budgets: found = asCounted, tookMs = 0 } = options.listed?.(lists) ?? {};
			passedMs += tookMs;
			return { askedAt, namespaces: [namespace], members: [{ ...member, budgets: found }] };
		},
		memberIds: () => ["eu"],
	};
	const ticket: Ticket = {
		clusterId: "eu",
		pod: podReference("db-0"),
		id: "id-db-0",
		budgets,
		terms: budgets.map((name) => budgetTerms(name, [{ ...member, budgets: asCounted }])),
		resourceVersion: "100",
		...(options.changesEveryMs !== undefined && { changesEveryMs: options.changesEveryMs }),
		labels: { app: "db" },
		countedAt: runtime.now() - (options.ageMs ?? 0),
	};
	const answers = [...(options.answers ?? [])];
	let reads = 0;
	let attempts = 0;
	const evictor: Evictor<string> = {
		...(options.mayBeSent && { mayBeSent: options.mayBeSent }),
		async evict(pod, { uid, resourceVersion }, id, guard) {
			attempts += 1;
			passedMs += options.beforeSending?.(attempts) ?? 0;
			if (!guard()) {
				calls.push("not sent");
				return { kind: "notSent" };
			}
			calls.push(`evict ${pod.name} ${uid} ${resourceVersion} ${id}`);
			return answers.shift() ?? { kind: "accepted" };
		},
		async read() {
			calls.push("read");
			reads += 1;
			const { found } = options;
			if (typeof found === "function") return found(reads);
			return found ?? foundPod({ resourceVersion: String(100 + reads) });
		},
	};
	const reservations = (name: BudgetName = budget) => cluster.lease(name).state.reservations.length;
	const run = () => evictUnderTicket(ticket, cluster, evictor, current, runtime);
	return { calls, cluster, runtime: manual, evictor, reservations, run };
}
