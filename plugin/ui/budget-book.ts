// Keeps the budgets of a run as its events report them: counts, unhealthy pods, and the holders of awaited Leases.
import type { MemberAgent, RunEvent, UsedBy } from "../events/events.ts";

export interface BudgetFacts {
	readonly key: string;
	/** NAMESPACE/NAME */
	readonly name: string;
	healthy?: number;
	need?: number;
	expected?: number;
	left?: number;
	clusters: readonly { readonly context: string; readonly healthy: number; readonly expected?: number }[];
	/** The contexts in which this run began evictions since the last count. */
	readonly uncountedIn: Set<string>;
	/** The budget's unhealthy pods: the current ones if it is watched, and otherwise those of the latest wait. */
	usedBy: readonly UsedBy[];
	/** Whether the agents' watch reports the budget. */
	isWatched: boolean;
	unknown?: string;
	fullSince?: number;
	line?: { readonly holder: string; readonly context: string; readonly position: number; readonly since: number };
}

export class BudgetBook {
	readonly #budgets = new Map<string, BudgetFacts>();
	/** By the cluster's name in the fleet. */
	readonly #contexts = new Map<string, string>();
	/** All members of the fleet: the context's name if this run has one for the member, otherwise the cluster's name. */
	members: readonly string[] = [];

	get all(): readonly BudgetFacts[] {
		return [...this.#budgets.values()];
	}

	find(name: string): BudgetFacts | undefined {
		return this.#budgets.get(name);
	}

	contextOf(cluster: string): string {
		return this.wayTo(cluster) ?? cluster;
	}

	wayTo(cluster: string): string | undefined {
		return this.#contexts.get(cluster);
	}

	see(event: RunEvent, at: number): void {
		switch (event.type) {
			case "run.started":
				this.#meet(event.members);
				return;
			case "pod.evicting":
				for (const name of event.budgets) {
					const budget = this.#budget(name);
					if (event.dryRun === "none") budget.uncountedIn.add(event.context);
				}
				return;
			case "pod.waiting":
				if (event.budget !== undefined) this.#exhausted(event.budget, event, at);
				return;
			case "budget.changed":
				this.#counted(event, at);
				return;
			case "budget.unknown":
				this.#unknown(event);
				return;
			case "lease.waiting": {
				const { holder, cluster, position, heldForMs } = event;
				this.#budget(event.budget).line = {
					holder,
					context: this.contextOf(cluster),
					position,
					since: at - heldForMs,
				};
				return;
			}
			case "lease.acquired":
				delete this.#budget(event.budget).line;
				return;
			case "cluster.recovered":
			case "cluster.unreachable":
			case "budget.notRecovered":
			case "diagnostic":
			case "interrupted":
			case "lease.lost":
			case "lease.released":
			case "login.started":
			case "login.ended":
			case "node.cordonFailed":
			case "node.cordoned":
			case "node.drained":
			case "node.draining":
			case "node.failed":
			case "node.uncordoned":
			case "node.warning":
			case "nodes.pending":
			case "paused":
			case "plan":
			case "pod.accepted":
			case "pod.evicted":
			case "pod.failed":
			case "pod.gone":
			case "pod.retrying":
			case "pod.skipped":
			case "pod.stopped":
			case "progress":
			case "resumed":
			case "budget.suspended":
			case "budget.unsuspended":
			case "budget.suspendFailed":
			case "budget.takenBack":
			case "run.failed":
			case "summary":
		}
	}

	#meet(members: readonly MemberAgent[]): void {
		for (const { cluster, context } of members) if (context !== undefined) this.#contexts.set(cluster, context);
		this.members = members.map(({ cluster }) => this.contextOf(cluster));
	}

	#exhausted(name: string, event: Extract<RunEvent, { type: "pod.waiting" }>, at: number): void {
		const budget = this.#budget(name);
		if (isTold(budget)) return;
		const { healthy, need, expected, usedBy, reason } = event;
		if (healthy !== undefined) {
			budget.healthy = healthy;
			// The counts per cluster do not add up to this number, so they are older.
			if (budget.clusters.reduce((sum, each) => sum + each.healthy, 0) !== healthy) budget.clusters = [];
		}
		if (need !== undefined) budget.need = need;
		if (expected !== undefined) budget.expected = expected;
		if (reason === "BudgetExhausted") {
			this.#setLeft(budget, 0, at);
			budget.uncountedIn.clear();
		}
		budget.usedBy = usedBy;
	}

	#counted(event: Extract<RunEvent, { type: "budget.changed" }>, at: number): void {
		const budget = this.#budget(event.budget);
		const { healthy, need, expected, left, clusters, usedBy } = event;
		if (usedBy) budget.isWatched = true;
		else if (isTold(budget)) return;
		delete budget.unknown;
		Object.assign(budget, { healthy, need, expected });
		this.#setLeft(budget, left, at);
		budget.uncountedIn.clear();
		if (usedBy) budget.usedBy = usedBy;
		else if (left !== 0) budget.usedBy = [];
		budget.clusters = clusters.map(({ name, ...counts }) => ({ context: this.contextOf(name), ...counts }));
	}

	#unknown({ budget: name, message }: Extract<RunEvent, { type: "budget.unknown" }>): void {
		const budget = this.#budget(name);
		Object.assign(budget, { isWatched: false, unknown: message, usedBy: [], clusters: [] });
		delete budget.left;
		delete budget.healthy;
		delete budget.fullSince;
	}

	#setLeft(budget: BudgetFacts, left: number | undefined, at: number): void {
		if (left === undefined) delete budget.left;
		else budget.left = left;
		if (left !== 0) delete budget.fullSince;
		else budget.fullSince ??= at;
	}

	#budget(name: string): BudgetFacts {
		const known = this.#budgets.get(name) ?? {
			key: `budget ${name}`,
			name,
			clusters: [],
			usedBy: [],
			isWatched: false,
			uncountedIn: new Set(),
		};
		this.#budgets.set(name, known);
		return known;
	}
}

/** Whether the watch's counts are current. Right after an eviction, a round's counts may be newer. */
function isTold({ isWatched, uncountedIn }: BudgetFacts): boolean {
	return isWatched && uncountedIn.size === 0;
}
