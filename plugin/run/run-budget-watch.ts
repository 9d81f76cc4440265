// Watches a run's budgets, because rounds count only when a pod asks for a grant. For display only: no decision relies on it.
import type { EventSink, RunEvent } from "../events/events.ts";
import { toldUsers } from "../events/told-users.ts";
import { type RowChanges, watchBudgets } from "../fleet/budget-watch.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { WatchClock } from "../fleet/watched-member.ts";
import { errorText } from "../kubernetes/api-error.ts";

interface WatchedRun {
	readonly fleet: Pick<Fleet, "members">;
	readonly holder: string;
	readonly clock: WatchClock;
}

/**
 * An older count must not look like the state after an eviction or a round. After a change, an agent counts within about half a second, and
 * the watch reports the count within a quarter of a second.
 */
const settleMs = 1_000;
/** How long to wait for further namespaces before the watch is opened again with all of them. */
const gatherMs = 250;

export class RunBudgetWatch {
	readonly #emit: EventSink;
	readonly #met = new Set<string>();
	readonly #namespaces = new Set<string>();
	/** The newest row of each watched budget. Undefined if no member has the budget any more. */
	readonly #rows = new Map<string, BudgetRow | undefined>();
	readonly #told = new Map<string, string>();
	readonly #heldUntil = new Map<string, number>();
	readonly #end = new AbortController();
	#run: WatchedRun | undefined;
	#watch = new AbortController();
	#isGathering = false;

	constructor(emit: EventSink) {
		this.#emit = emit;
	}

	/** Passes the run's events on, and learns the run's budgets from them. */
	readonly see: EventSink = (event) => {
		this.#emit(event);
		if (event.type === "pod.waiting" && event.budget !== undefined) this.#meet(event.budget);
		if (event.type === "budget.changed" && this.#met.has(event.budget)) this.#hold(event.budget);
		if (event.type !== "pod.evicting" || event.dryRun !== "none") return;
		for (const name of event.budgets) {
			this.#hold(name);
			this.#meet(name);
		}
	};

	begin(run: WatchedRun): void {
		this.#run = run;
		if (this.#namespaces.size > 0) this.#restart();
	}

	end(): void {
		this.#end.abort(new Error("the run is over"));
	}

	#meet(name: string): void {
		if (this.#met.has(name)) return;
		this.#met.add(name);
		const [namespace = ""] = name.split("/");
		if (this.#namespaces.has(namespace)) return this.#tell(name);
		this.#namespaces.add(namespace);
		if (!this.#run || this.#isGathering) return;
		this.#isGathering = true;
		void this.#pause(gatherMs).then(() => {
			this.#isGathering = false;
			this.#restart();
		});
	}

	#restart(): void {
		if (!this.#run || this.#end.signal.aborted) return;
		const { fleet, clock } = this.#run;
		this.#watch.abort(new Error("more namespaces are watched"));
		this.#watch = new AbortController();
		watchBudgets({
			// The run itself handles changes of the fleet.
			fleet: {
				get members() {
					return fleet.members;
				},
				reconnect: async () => undefined,
			},
			namespaces: [...this.#namespaces].toSorted(),
			clock,
			signal: AbortSignal.any([this.#end.signal, this.#watch.signal]),
			onChanges: (changes) => this.#see(changes),
		}).catch((error: unknown) => {
			// Only a bug ends the watch this way.
			this.#rows.clear();
			const message = `its counts are not kept up to date any more: ${errorText(error)}`;
			for (const budget of this.#met) this.#emit({ type: "budget.unknown", budget, message });
		});
	}

	#see({ changed, gone }: RowChanges): void {
		for (const row of changed) this.#rows.set(`${row.namespace}/${row.name}`, row);
		for (const { namespace, name } of gone) this.#rows.set(`${namespace}/${name}`, undefined);
		for (const { namespace, name } of [...changed, ...gone]) this.#tell(`${namespace}/${name}`);
	}

	#hold(name: string): void {
		if (!this.#run) return;
		const until = this.#run.clock.now() + settleMs;
		this.#heldUntil.set(name, until);
		// Rounds may report another count meanwhile, so report again afterwards.
		this.#told.delete(name);
		void this.#pause(settleMs).then(() => {
			if (this.#heldUntil.get(name) !== until) return;
			this.#heldUntil.delete(name);
			this.#tell(name);
		});
	}

	#tell(name: string): void {
		if (!this.#run || this.#end.signal.aborted) return;
		if (!this.#met.has(name) || !this.#rows.has(name) || this.#heldUntil.has(name)) return;
		const event = budgetEvent(name, this.#rows.get(name), this.#run.holder);
		const text = JSON.stringify(event);
		if (this.#told.get(name) === text) return;
		this.#told.set(name, text);
		this.#emit(event);
	}

	async #pause(ms: number): Promise<void> {
		await this.#run?.clock.pause(ms, this.#end.signal).catch(() => undefined);
	}
}

function budgetEvent(budget: string, row: BudgetRow | undefined, holder: string): RunEvent {
	if (!row) return { type: "budget.unknown", budget, message: "no cluster has it any more" };
	const { healthy, need, expected, allowed: left, perCluster, problem } = row;
	if (healthy === undefined) return { type: "budget.unknown", budget, message: problem ?? "it was not counted" };
	return {
		type: "budget.changed",
		budget,
		healthy,
		...(need !== undefined && { need }),
		...(expected !== undefined && { expected }),
		...(left !== undefined && { left }),
		clusters: [...perCluster].map(([name, counts]) => ({
			name,
			healthy: counts.healthy ?? 0,
			...(counts.expected !== undefined && { expected: counts.expected }),
		})),
		usedBy: toldUsers(row.usedBy, holder),
	};
}
