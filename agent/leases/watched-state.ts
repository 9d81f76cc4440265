// Keeps one watched budget: its state at the last count, and the scales that the count used.
import { type BudgetName, type BudgetSpec, formatBudgetName, parseBudgetSpec } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { leaseName, parseLease } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { WatchedBudget } from "../../proto/agent-cluster.ts";
import type { ControllerName } from "../cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../cluster-api/scale-answer.ts";
import type { Clock } from "../process/clock.ts";
import { type CountOptions, look } from "./count.ts";

interface WatchedCountOptions {
	readonly counting: CountOptions;
	readonly clock: Pick<Clock, "now">;
	/** The Lease as the watch shows it. */
	readonly lease: LeaseObject | undefined;
	readonly fleet: DeclaredFleet;
}

/** How long scales are used. A scale may change while no pod does, for example if a quota keeps new pods out. */
const scalesGoodForMs = 60_000;

export class WatchedState {
	readonly budget: MemberBudget;
	readonly key: string;
	readonly leaseName: string;
	/** Undefined if the budget cannot be read. */
	readonly selector: BudgetSpec["selector"] | undefined;
	/**
	 * The latest state for readers. It stays the same object until the state changes. Undefined before the first count, and after forget().
	 */
	told: WatchedBudget | undefined;
	/** When the last count began, by the agent's clock. */
	countedAt = Number.NEGATIVE_INFINITY;
	isBusy = false;
	readonly #problem: string | undefined;
	#text = "";
	#scales: Map<string, Promise<ScaleAnswer>> | undefined;
	#scaledAt = Number.NEGATIVE_INFINITY;

	constructor(budget: MemberBudget) {
		this.budget = budget;
		this.key = formatBudgetName(budget.name);
		this.leaseName = leaseName(budget.name);
		try {
			this.selector = parseBudgetSpec(budget.spec).selector;
		} catch (error) {
			if (!(error instanceof InvalidBudgetError)) throw error;
			this.#problem = error.message;
		}
	}

	get name(): BudgetName {
		return this.budget.name;
	}

	/** Whether the number of expected pods is unknown, and may soon be known without any action. */
	get settles(): boolean {
		const state = this.told?.state;
		return (
			state !== undefined && "expected" in state && state.expected.kind === "unknown" && state.expected.settles === true
		);
	}

	/** Whether the last count failed, and it is time to try again. */
	isToTryAgain(now: number, retryMs: number): boolean {
		const state = this.told?.state;
		const hasFailed = state !== undefined && "unknown" in state && this.selector !== undefined;
		return hasFailed && now - this.countedAt >= retryMs;
	}

	hasOldScales(now: number): boolean {
		return now - this.#scaledAt >= scalesGoodForMs;
	}

	/** Makes the next count request the scales again. */
	forgetScales(): void {
		this.#scales = undefined;
	}

	forget(): void {
		this.told = undefined;
		this.#text = "";
		this.#scales = undefined;
	}

	failed(unknown: string): void {
		this.#tell({ budget: this.budget, state: { unknown } });
	}

	/** Sets `told`. Rejects if the count fails. */
	async count({ counting, clock, lease, fleet }: WatchedCountOptions): Promise<void> {
		this.countedAt = clock.now();
		if (!this.selector) {
			this.#scaledAt = this.countedAt;
			this.failed(this.#problem ?? "it cannot be read");
			return;
		}
		if (!this.#scales) this.#scaledAt = this.countedAt;
		const scales = (this.#scales ??= new Map());
		const getScale = (controller: ControllerName, namespace: string): Promise<ScaleAnswer> => {
			const key = controllerKey(controller);
			// What the watches show is enough for people, and costs the API server nothing for thousands of budgets.
			const shown = counting.workloads?.shownScale(controller, namespace);
			if (shown) return Promise.resolve(shown);
			const scale = scales.get(key) ?? counting.api.getScale(controller, namespace);
			scales.set(key, scale);
			return scale;
		};
		this.isBusy = true;
		try {
			const state = await look(
				Promise.resolve(lease && parseLease(lease, counting.cluster)),
				{ budget: this.name, selector: this.selector, candidates: [] },
				{
					...counting,
					api: { ...counting.api, getScale, getFleet: async () => fleet, getBudget: async () => this.budget },
					budgets: { ...counting.budgets, proven: true, wanted: () => undefined, budgets: () => [this.budget] },
				},
			);
			if (state.expected.kind === "unknown" && this.#scales === scales) this.#scales = undefined;
			this.#tell({ budget: this.budget, state });
		} catch (error) {
			// A scale that could not be read is not an answer for the next count.
			if (this.#scales === scales) this.#scales = undefined;
			throw error;
		} finally {
			this.isBusy = false;
		}
	}

	#tell(told: WatchedBudget): void {
		const text = JSON.stringify(told);
		if (text === this.#text) return;
		this.#text = text;
		this.told = told;
	}
}
