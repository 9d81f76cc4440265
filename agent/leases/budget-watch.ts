// What the budgets of this cluster come to, kept up to date for people who look on. Nothing is done while nobody does.
//
// Each state is a look (count.ts) at the views: no second arithmetic. What a look would ask the API server each time comes from
// the watches (the Lease, the budget) or was asked lately (the fleet, every two seconds; scales, whenever a pod of the budget came,
// went or began to go, and every minute, of more than 600 budgets in turn), because nobody decides by it. Where a watch is not alive, or
// the fleet cannot be read, nothing is known, and that is said: an old number is never told for a new one.
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

export interface BudgetWatchOptions extends CountOptions {
	readonly leases: Pick<LeaseView, "find" | "live" | "onChange">;
	readonly clock: Pick<Clock, "now" | "after">;
	/** Left out: none are told. */
	readonly histories?: Pick<BudgetHistories, "all" | "onLook"> | undefined;
}

/** A sign of life, and how old the fleet may be. */
const beatEveryMs = 2_000;
/** Of one budget: more often nobody reads it. */
const countEveryMs = 500;
/** As a plugin has under way at one member: the API server is asked for the scales of all budgets at the start. */
const countsAtOnce = 24;
/** What could not be counted is tried again. */
const retryMs = 10_000;
/** So many budgets' scales become old at a time, where there are more: not all of a thousand are asked for in the same second. */
const scalesPerBeat = 20;

interface Reader {
	readonly wants: (namespace: string) => boolean;
	readonly onUpdate: (update: BudgetsUpdate) => void;
	/** Budgets that were not told yet, by name; undefined once all there was has been told. */
	owed: Set<string> | undefined;
}

export class BudgetWatch {
	readonly #options: BudgetWatchOptions;
	readonly #readers = new Set<Reader>();
	#states = new WatchedBudgets();
	readonly #dirty = new Set<WatchedState>();
	/** Namespaces. */
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

	/** How many look on. */
	get readers(): number {
		return this.#readers.size;
	}

	/** Tells until `signal` aborts, and rejects with its reason then. */
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
		const { pods, leases, budgets, clock, histories } = this.#options;
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

	/** A reader begins, or everything begins anew: what is known, and what is owed. */
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
		// Told with everything else when something is known again.
		if (this.#problem() !== undefined || this.#wasUnknown) return;
		for (const reader of this.#readers) this.#tell(reader, { changed: [], gone: [], ...this.#historiesFor(reader) });
	}

	#historiesFor({ wants }: Reader): Pick<BudgetsUpdate, "histories"> {
		const histories = this.#options.histories?.all(wants) ?? [];
		return histories.length > 0 ? { histories } : {};
	}

	#tell(reader: Reader, update: Pick<BudgetsUpdate, "changed" | "gone" | "histories">): void {
		// Before the fleet was read, or the first lists are done, there may be more than is known.
		const complete = reader.owed?.size === 0 && this.#fleet !== undefined && this.#problem() === undefined;
		if (complete) reader.owed = undefined;
		reader.onUpdate({ ...update, complete: reader.owed === undefined });
	}

	/** A list of all budgets tells of each of them, one after the other, and they are compared once. */
	#alignSoon(namespace: string): void {
		if (this.#toAlign.size === 0) {
			queueMicrotask(() => {
				for (const changed of this.#toAlign) this.#align(changed);
				this.#toAlign.clear();
			});
		}
		this.#toAlign.add(namespace);
	}

	/** Whether they are those that the budgets' watch shows. */
	#align(namespace?: string): void {
		const { budgets } = this.#options;
		// A view that begins anew has forgotten them, and none is gone for that.
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

	/** Begins the counts that are due, as many as may run at once. */
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
		const { leases, report } = this.#options;
		try {
			await state.count({ ...this.#options, lease: leases.find(state.leaseName), fleet });
		} catch (error) {
			if (!isDomainError(error)) report?.(error);
			state.failed(isDomainError(error) ? error.message : "its agent failed, see its log");
		} finally {
			this.#running -= 1;
		}
		if (state.settles) this.#dirty.add(state);
		this.#pumpIn(0);
		const { told } = state;
		// Gone meanwhile, or nobody reads any more.
		if (!told || this.#states.find(state.key) !== state || !this.#isKnown()) return;
		for (const reader of this.#readers) {
			if (!reader.wants(state.name.namespace)) continue;
			const isOwed = reader.owed?.delete(state.key) === true;
			if (isOwed || told !== before) this.#tell(reader, { changed: [told], gone: [] });
		}
	}

	/** Where it is not, nobody is told: everything is told anew at the beat after that, also where that finds nothing wrong any more. */
	#isKnown(): boolean {
		const isKnown = this.#problem() === undefined;
		this.#wasUnknown ||= !isKnown;
		return isKnown;
	}

	/** Why nothing is known. */
	#problem(): string | undefined {
		const { pods, leases, budgets } = this.#options;
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
			this.#fleet = await this.#options.api.getFleet();
			this.#fleetProblem = undefined;
		} catch (error) {
			if (!isDomainError(error)) this.#options.report?.(error);
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

/** Nothing of it changes a count or what people are told of it: somebody writes an annotation. */
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
