// Watches the budgets of one member, as its agents report them. If a watch breaks, the plugin opens a new one, which reports everything
// again. The last report stays valid for as long as an agent trusts its own watch without a sign of life. After that, the state is unknown
// until it is reported again.
import { type BudgetName, formatBudgetName, parseBudgetSpec } from "../../disruption/budget/budget.ts";
import type { Count, MemberBudget } from "../../disruption/budget/cluster.ts";
import { InvalidBudgetError, isDomainError } from "../../disruption/errors.ts";
import { isRecord } from "../../disruption/record.ts";
import type { AgentCluster, BudgetHistory, BudgetsUpdate, WatchedBudget } from "../../proto/agent-cluster.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { mergedHistory } from "./healthy-history.ts";

export interface WatchClock {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** Resolves after that time. Rejects with the signal's reason if the signal aborts. */
	readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface WatchedMemberOptions {
	readonly member: AgentCluster;
	readonly namespaces: readonly string[];
	readonly clock: WatchClock;
	/** Called with the keys of the budgets that may have changed. Without keys, all may have changed. */
	readonly onChange: (keys?: readonly string[]) => void;
	readonly onHistories?: () => void;
}

export interface MemberState {
	readonly name: string;
	/** Why nothing is known about the member now. */
	readonly problem: string | undefined;
	/** Whether its agent is too old to support watches, so that the plugin polls it. */
	readonly isPolled: boolean;
}

/** Agents apply the same limit to their own watches. */
const goodForMs = 5_000;
const pausesMs = [0, 100, 250, 500, 1_000, 2_000];
/** Polling costs more than watching, so it may use at most a tenth of the time. */
const pollEveryMs = 5_000;
const pollShare = 10;

interface Known {
	readonly watched: WatchedBudget;
	/** The number of the watch that last reported the budget. */
	readonly telling: number;
}

export class WatchedMember {
	readonly #options: WatchedMemberOptions;
	readonly #known = new Map<string, Known>();
	readonly #histories = new Map<string, BudgetHistory>();
	/** The number of the current watch. */
	#telling = 0;
	/** The number of the last watch that has reported everything. Budgets that only earlier watches reported are then forgotten. */
	#settled = -1;
	/** Until when the reports of the previous watch are valid. */
	#goodUntil = Number.NEGATIVE_INFINITY;
	#heardAt = Number.NEGATIVE_INFINITY;
	/** Whether all existing budgets have been reported once. */
	#isComplete = false;
	#isOpen = false;
	#isPolled = false;
	/** Why the agent itself says that the state is unknown. */
	#unknown: string | undefined;
	#broken: string | undefined;

	constructor(options: WatchedMemberOptions) {
		this.#options = options;
	}

	get id(): string {
		return this.#options.member.id;
	}

	get name(): string {
		return this.#options.member.name;
	}

	get member(): AgentCluster {
		return this.#options.member;
	}

	get state(): MemberState {
		return { name: this.name, problem: this.#problem(), isPolled: this.#isPolled };
	}

	/** Whether there is something to show: all its budgets, or why there are none. */
	get hasAnswered(): boolean {
		return (
			this.#isComplete || (this.#broken !== undefined && this.#problem() !== undefined) || this.#unknown !== undefined
		);
	}

	names(): readonly BudgetName[] {
		return [...this.#known.values()].map(({ watched }) => watched.budget.name);
	}

	namesOf(keys: Iterable<string>): readonly BudgetName[] {
		return [...keys].flatMap((key) => this.budget(key)?.name ?? []);
	}

	/** Returns the budget as the member has it, even if its count is unknown. */
	budget(key: string): MemberBudget | undefined {
		return this.#known.get(key)?.watched.budget;
	}

	/** Undefined if the member does not have the budget. An error if the count is unknown. */
	count(key: string): Count | Error | undefined {
		const problem = this.#problem();
		if (problem !== undefined) return new Error(problem);
		const known = this.#known.get(key);
		if (!known) return this.#isComplete ? undefined : new Error("it has not told its budgets yet");
		if (known.telling !== this.#telling && this.#options.clock.now() >= this.#goodUntil) {
			return new Error("its agents have not told it since the connection was lost");
		}
		const { state } = known.watched;
		return "unknown" in state ? new Error(state.unknown) : state;
	}

	/** Valid even if the present state is unknown. */
	history(key: string): BudgetHistory | undefined {
		return this.#histories.get(key);
	}

	/** Watches until `signal` aborts. Rejects only on bugs. */
	async run(signal: AbortSignal): Promise<void> {
		const { member, namespaces, clock } = this.#options;
		for (let failures = 0; !signal.aborted; failures += 1) {
			const heardBefore = this.#heardAt;
			try {
				const { kind } = await member.watchBudgets(namespaces, { signal, onUpdate: (update) => this.#hear(update) });
				if (kind === "unsupported") await this.#poll(signal);
			} catch (error) {
				if (signal.aborted) return;
				if (!isDomainError(error)) throw error;
				this.#break(error);
			}
			if (this.#heardAt !== heardBefore) failures = 0;
			await clock.pause(pausesMs[Math.min(failures, pausesMs.length - 1)] ?? 0, signal).catch(() => undefined);
		}
	}

	/** Reports a possible change while the reports of a broken watch may expire, because no message says when they do. */
	tick(): void {
		if (!this.#isOpen || this.#options.clock.now() < this.#goodUntil + 2 * goodForMs) this.#options.onChange();
	}

	#problem(): string | undefined {
		if (this.#unknown !== undefined) return this.#unknown;
		if (this.#broken === undefined) return undefined;
		return this.#options.clock.now() < this.#goodUntil ? undefined : this.#broken;
	}

	#hear({ changed, gone, complete, unknown, histories = [] }: BudgetsUpdate): void {
		this.#heardAt = this.#options.clock.now();
		for (const history of histories) {
			const key = formatBudgetName(history.budget);
			this.#histories.set(key, mergedHistory(this.#histories.get(key), history));
		}
		if (histories.length > 0) this.#options.onHistories?.();
		this.#isOpen = true;
		if (unknown !== undefined) {
			const isNew = this.#unknown !== unknown;
			this.#unknown = unknown;
			this.#beginAnew(Number.NEGATIVE_INFINITY);
			if (isNew) this.#options.onChange();
			return;
		}
		const wasUnknown = this.#problem() !== undefined;
		this.#unknown = undefined;
		this.#broken = undefined;
		const keys = changed.map((watched) => {
			const key = formatBudgetName(watched.budget.name);
			const before = this.#known.get(key)?.watched;
			// With another selector, the old history is about other pods.
			if (before && selects(before) !== selects(watched) && this.#histories.delete(key)) {
				this.#options.onHistories?.();
			}
			this.#known.set(key, { watched, telling: this.#telling });
			return key;
		});
		for (const name of gone) {
			this.#known.delete(formatBudgetName(name));
			this.#histories.delete(formatBudgetName(name));
			keys.push(formatBudgetName(name));
		}
		// Every two seconds an agent sends only a sign of life, for which 1,000 budgets need not be searched.
		if (complete && this.#settled !== this.#telling) keys.push(...this.#forgetUntold());
		else if (complete) for (const { budget } of histories) this.#forgetHistoryWithout(budget);
		if (wasUnknown || (complete && !this.#isComplete)) {
			this.#isComplete ||= complete;
			this.#options.onChange();
		} else if (keys.length > 0) {
			this.#options.onChange(keys);
		}
	}

	#forgetUntold(): readonly string[] {
		this.#settled = this.#telling;
		const gone = [...this.#known].filter(([, { telling }]) => telling !== this.#telling).map(([key]) => key);
		for (const key of gone) this.#known.delete(key);
		for (const { budget } of this.#histories.values()) this.#forgetHistoryWithout(budget);
		return gone;
	}

	#forgetHistoryWithout(budget: BudgetName): void {
		const key = formatBudgetName(budget);
		if (!this.#known.has(key)) this.#histories.delete(key);
	}

	#break(error: Error): void {
		this.#broken = errorText(error);
		if (!this.#isOpen) {
			this.#options.onChange();
			return;
		}
		this.#isOpen = false;
		this.#beginAnew(this.#heardAt + goodForMs);
	}

	#beginAnew(goodUntil: number): void {
		this.#telling += 1;
		this.#goodUntil = goodUntil;
	}

	/** Gets the same reports with the calls that the table uses. */
	async #poll(signal: AbortSignal): Promise<void> {
		const { member, namespaces, clock } = this.#options;
		this.#isPolled = true;
		while (!signal.aborted) {
			const startedAt = clock.now();
			const { budgets } = await member.listBudgets(namespaces);
			const changed = await Promise.all(budgets.map((budget) => this.#lookAt(budget)));
			this.#beginAnew(Number.NEGATIVE_INFINITY);
			this.#hear({ changed, gone: [], complete: true });
			await clock.pause(Math.max(pollEveryMs, pollShare * (clock.now() - startedAt)), signal);
		}
	}

	async #lookAt(budget: MemberBudget): Promise<WatchedBudget> {
		try {
			const { selector } = parseBudgetSpec(budget.spec);
			const count = await this.#options.member.look({
				budget: budget.name,
				selector,
				candidates: [],
				thisBudgetAlone: true,
			});
			return { budget, state: count };
		} catch (error) {
			if (!isDomainError(error) && !(error instanceof InvalidBudgetError)) throw error;
			return { budget, state: { unknown: error.message } };
		}
	}
}

function selects({ budget: { spec } }: WatchedBudget): string | undefined {
	return isRecord(spec) ? JSON.stringify(spec["selector"]) : undefined;
}
