// Keeps the states of this cluster's budgets up to date for watching readers. Without readers it does nothing.
//
// Each state is a look (count.ts) at the views, so the same code computes it as a count. Values that a look would request each time come
// from the watches (the Lease, the budget), or from recent reads. The fleet is read every 2 s. Scales are read again every minute (less
// often with more than 600 budgets). They are also read again when a pod of the budget is created or deleted, begins to terminate, finishes
// or gets another controller. No decision depends on these states. If a watch is dead or the fleet cannot be read, the state is reported as
// unknown, never as an old number.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { isDomainError } from "../../disruption/errors.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import type { BudgetsUpdate, WatchOptions } from "../../proto/agent-cluster.ts";
import type { Clock } from "../process/clock.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { PodChange } from "../views/pod-view.ts";
import type { BudgetHistories } from "./budget-histories.ts";
import type { CountOptions } from "./count.ts";
import { WatchedBudgets } from "./watched-budgets.ts";
import type { WatchedState } from "./watched-state.ts";

export interface BudgetWatchOptions {
	readonly counting: CountOptions;
	readonly leases: Pick<LeaseView, "find" | "live" | "onChange">;
	readonly clock: Pick<Clock, "now" | "after">;
	/** If left out, no histories are reported. */
	readonly histories?: Pick<BudgetHistories, "all" | "onLook"> | undefined;
}

/** The interval between signs of life, and between reads of the fleet. */
const beatEveryMs = 2_000;
/** The shortest time between two counts of one budget: people do not read faster. */
const countEveryMs = 500;
/** How many counts run at the same time, to limit the requests for scales. A plugin requests as many counts of one member. */
const countsAtOnce = 24;
/** The pause before a failed count is tried again. */
const retryMs = 10_000;
/** The most budgets with old scales that one beat counts again, so that a thousand are not requested in the same second. */
const scalesPerBeat = 20;

interface Reader {
	readonly wants: (namespace: string) => boolean;
	readonly onUpdate: (update: BudgetsUpdate) => void;
	/** Names of budgets that this reader was not sent yet. Undefined once it was sent all of them. */
	owed: Set<string> | undefined;
}

export class BudgetWatch {
	readonly #options: BudgetWatchOptions;
	readonly #readers = new Set<Reader>();
	#states = new WatchedBudgets();
	readonly #dirty = new Set<WatchedState>();
	/** Namespaces whose budgets have changed. */
	readonly #toAlign = new Set<string>();
	#fleet: DeclaredFleet | undefined;
	#fleetProblem: string | undefined;
	#isReadingFleet = false;
	#wasUnknown = false;
	#running = 0;
	#nextPump: { readonly at: number; readonly cancel: () => void } | undefined;
	#end: (() => void) | undefined;

	constructor(options: BudgetWatchOptions) {
		this.#options = options;
	}

	get readers(): number {
		return this.#readers.size;
	}

	/** Sends updates until `signal` aborts, and then rejects with its reason. */
	async watch(namespaces: readonly string[], { signal, onUpdate }: WatchOptions): Promise<never> {
		signal.throwIfAborted();
		const wanted = new Set(namespaces);
		const reader: Reader = {
			wants: (namespace) => wanted.size === 0 || wanted.has(namespace),
			onUpdate,
			owed: new Set(),
		};
		this.#readers.add(reader);
		if (this.#readers.size === 1) this.#begin();
		else this.#tellAll(reader);
		return new Promise<never>((_, reject) => {
			const leave = (): void => {
				this.#readers.delete(reader);
				if (this.#readers.size === 0) this.#end?.();
				reject(signal.reason);
			};
			signal.addEventListener("abort", leave, { once: true });
		});
	}

	#begin(): void {
		const { counting, leases, clock, histories } = this.#options;
		const { pods, budgets } = counting;
		let cancelBeat = (): void => undefined;
		const beat = (): void => {
			cancelBeat = clock.after(beatEveryMs, beat);
			this.#beat();
		};
		const stops = [
			pods.onChange((namespace, change) => this.#podChanged(namespace, change)),
			leases.onChange((name) => this.#leaseChanged(name)),
			budgets.onChange((namespace) => this.#alignSoon(namespace)),
			...(histories ? [histories.onLook(() => this.#tellHistories())] : []),
		];
		this.#end = () => {
			for (const stop of stops) stop();
			cancelBeat();
			this.#nextPump?.cancel();
			this.#nextPump = undefined;
			this.#dirty.clear();
			this.#states = new WatchedBudgets();
			this.#fleet = undefined;
			this.#fleetProblem = undefined;
			this.#wasUnknown = false;
		};
		for (const reader of this.#readers) this.#tellAll(reader);
		beat();
	}

	/** Sends a reader what is known, and notes in `owed` what is missing. */
	#tellAll(reader: Reader): void {
		reader.owed = new Set();
		this.#align();
		const known = [...this.#states.all()].filter(({ name }) => reader.wants(name.namespace));
		reader.owed = new Set(known.map(({ key }) => key));
		if (!this.#isKnown()) return;
		const changed = known.flatMap(({ told }) => (told ? [told] : []));
		for (const { budget } of changed) reader.owed.delete(formatBudgetName(budget.name));
		this.#tell(reader, { changed, gone: [], ...this.#historiesFor(reader) });
	}

	#tellHistories(): void {
		// Histories are sent with everything else when the state is known again.
		if (this.#problem() !== undefined || this.#wasUnknown) return;
		for (const reader of this.#readers) this.#tell(reader, { changed: [], gone: [], ...this.#historiesFor(reader) });
	}

	#historiesFor({ wants }: Reader): Pick<BudgetsUpdate, "histories"> {
		const histories = this.#options.histories?.all(wants) ?? [];
		return histories.length > 0 ? { histories } : {};
	}

	#tell(reader: Reader, update: Pick<BudgetsUpdate, "changed" | "gone" | "histories">): void {
		// Until the fleet was read and the first lists are done, more budgets may exist than are known.
		const complete = reader.owed?.size === 0 && this.#fleet !== undefined && this.#problem() === undefined;
		if (complete) reader.owed = undefined;
		reader.onUpdate({ ...update, complete: reader.owed === undefined });
	}

	/** Aligns a namespace once for many changes, because a list of all budgets reports each budget. */
	#alignSoon(namespace: string): void {
		if (this.#toAlign.size === 0) {
			queueMicrotask(() => {
				for (const changed of this.#toAlign) this.#align(changed);
				this.#toAlign.clear();
			});
		}
		this.#toAlign.add(namespace);
	}

	#align(namespace?: string): void {
		const { budgets } = this.#options.counting;
		// A view that starts again is empty, but its budgets are not gone.
		if (!budgets.synced) return;
		const wanted = [...budgets.budgets(namespace)].filter(({ name }) => this.#isWanted(name.namespace));
		const { changed, gone } = this.#states.align(wanted, namespace);
		for (const state of changed) {
			for (const reader of this.#readers) if (reader.wants(state.name.namespace)) reader.owed?.add(state.key);
			this.#recount(state, true);
		}
		for (const state of gone) this.#drop(state);
	}

	#isWanted(namespace: string): boolean {
		return [...this.#readers].some(({ wants }) => wants(namespace));
	}

	#drop(state: WatchedState): void {
		this.#dirty.delete(state);
		for (const reader of this.#readers) {
			if (!reader.wants(state.name.namespace)) continue;
			reader.owed?.delete(state.key);
			this.#tell(reader, { changed: [], gone: [state.name] });
		}
	}

	#podChanged(namespace: string, change: PodChange | undefined): void {
		if (!change) {
			for (const state of this.#states.of(namespace)) this.#recount(state, true);
			return;
		}
		const { before, after } = change;
		if (before && after && isAlike(before, after)) return;
		const scales = !before || !after || before.terminating !== after.terminating || before.finished !== after.finished;
		const concerned = new Set(
			[before, after].flatMap((pod) => (pod ? this.#states.selecting(namespace, pod.labels) : [])),
		);
		for (const state of concerned) this.#recount(state, scales || before.controller !== after.controller);
	}

	#leaseChanged(name: string): void {
		const state = this.#states.ofLease(name);
		if (state) this.#recount(state, false);
	}

	#recount(state: WatchedState, withScales: boolean): void {
		if (withScales) state.forgetScales();
		this.#dirty.add(state);
		this.#pumpIn(0);
	}

	#pumpIn(ms: number): void {
		const { clock } = this.#options;
		const at = clock.now() + ms;
		if (this.#readers.size === 0 || (this.#nextPump && this.#nextPump.at <= at)) return;
		this.#nextPump?.cancel();
		const cancel = clock.after(ms, () => {
			this.#nextPump = undefined;
			this.#pump();
		});
		this.#nextPump = { at, cancel };
	}

	/** Starts the counts that are due, as many as may run at the same time. */
	#pump(): void {
		const fleet = this.#fleet;
		if (!fleet || !this.#isKnown()) return;
		const now = this.#options.clock.now();
		let nextMs = Number.POSITIVE_INFINITY;
		for (const state of this.#dirty) {
			if (this.#running >= countsAtOnce) return;
			const waitMs = state.countedAt + countEveryMs - now;
			if (waitMs > 0 || state.isBusy) {
				if (!state.isBusy) nextMs = Math.min(nextMs, waitMs);
				continue;
			}
			this.#dirty.delete(state);
			this.#running += 1;
			void this.#count(state, fleet);
		}
		if (Number.isFinite(nextMs)) this.#pumpIn(nextMs);
	}

	async #count(state: WatchedState, fleet: DeclaredFleet): Promise<void> {
		const before = state.told;
		const { counting, leases, clock } = this.#options;
		try {
			await state.count({ counting, clock, lease: leases.find(state.leaseName), fleet });
		} catch (error) {
			if (!isDomainError(error)) counting.report?.(error);
			state.failed(isDomainError(error) ? error.message : "its agent failed, see its log");
		} finally {
			this.#running -= 1;
		}
		if (state.settles) this.#dirty.add(state);
		this.#pumpIn(0);
		const { told } = state;
		// Send nothing if the budget has gone or changed meanwhile, if the last reader has left, or while the state is unknown.
		if (!told || this.#states.find(state.key) !== state || !this.#isKnown()) return;
		for (const reader of this.#readers) {
			if (!reader.wants(state.name.namespace)) continue;
			const isOwed = reader.owed?.delete(state.key) === true;
			if (isOwed || told !== before) this.#tell(reader, { changed: [told], gone: [] });
		}
	}

	/** While the state is unknown, readers get no states, and the first beat after that sends everything again. */
	#isKnown(): boolean {
		const isKnown = this.#problem() === undefined;
		this.#wasUnknown ||= !isKnown;
		return isKnown;
	}

	/** Returns why the state is unknown, or undefined if it is known. */
	#problem(): string | undefined {
		const { counting, leases } = this.#options;
		const { pods, budgets } = counting;
		if (!pods.synced || !budgets.synced) return "its agent has not finished its first lists";
		if (!pods.live || !leases.live || !budgets.live) return "the watches of its agent show no sign of life";
		return this.#fleetProblem;
	}

	#beat(): void {
		void this.#readFleet();
		const unknown = this.#problem();
		if (unknown !== undefined) {
			this.#wasUnknown = true;
			for (const { onUpdate } of this.#readers) onUpdate({ changed: [], gone: [], complete: false, unknown });
			return;
		}
		if (this.#wasUnknown) {
			this.#wasUnknown = false;
			for (const state of this.#states.all()) {
				state.forget();
				this.#recount(state, true);
			}
			for (const reader of this.#readers) this.#tellAll(reader);
			return;
		}
		const now = this.#options.clock.now();
		let old = 0;
		for (const state of this.#states.all()) {
			if (state.isToTryAgain(now, retryMs) || (state.hasOldScales(now) && (old += 1) <= scalesPerBeat))
				this.#recount(state, true);
		}
		for (const reader of this.#readers) this.#tell(reader, { changed: [], gone: [] });
	}

	async #readFleet(): Promise<void> {
		if (this.#isReadingFleet) return;
		this.#isReadingFleet = true;
		const before = this.#fleet;
		try {
			this.#fleet = await this.#options.counting.api.getFleet();
			this.#fleetProblem = undefined;
		} catch (error) {
			if (!isDomainError(error)) this.#options.counting.report?.(error);
			this.#fleetProblem = error instanceof Error ? error.message : String(error);
			return;
		} finally {
			this.#isReadingFleet = false;
		}
		if (before && sameMembers(before, this.#fleet)) return;
		for (const state of this.#states.all()) this.#recount(state, false);
		if (!before) for (const reader of this.#readers) this.#tellAll(reader);
	}
}

function sameMembers(a: DeclaredFleet, b: DeclaredFleet): boolean {
	return a.members.length === b.members.length && a.members.every(({ id }, index) => id === b.members[index]?.id);
}

/** Whether the change affects neither a count nor what people see of the pod, for example a change of an annotation. */
function isAlike(before: NonNullable<PodChange["before"]>, after: NonNullable<PodChange["after"]>): boolean {
	return (
		before.ready === after.ready &&
		before.terminating === after.terminating &&
		before.finished === after.finished &&
		before.labels === after.labels &&
		before.controller === after.controller &&
		JSON.stringify(before.status) === JSON.stringify(after.status)
	);
}
