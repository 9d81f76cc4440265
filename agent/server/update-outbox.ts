// Holds the latest state and history of each budget until they are sent to the reader. It is not a queue, so a slow reader costs no more
// memory.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { AgentProtocolError } from "../../disruption/errors.ts";
import type { BudgetHistory, BudgetsUpdate, WatchedBudget } from "../../proto/agent-cluster.ts";

/** More than a cluster has. Without a limit, another member whose updates are forwarded could send any number of names. */
const mostBudgets = 10_000;
/** About 100 KB, so that the first budgets are shown while the others are sent. */
const mostInOne = 100;

export class UpdateOutbox {
	readonly #changed = new Map<string, WatchedBudget>();
	readonly #gone = new Map<string, BudgetName>();
	readonly #histories = new Map<string, BudgetHistory>();
	#unknown: string | undefined;
	#isComplete = false;
	#isDue = false;
	#wake: (() => void) | undefined;

	/** Throws AgentProtocolError if there are more budgets than any cluster has. */
	put({ changed, gone, complete, unknown, histories = [] }: BudgetsUpdate): void {
		this.#isDue = true;
		this.#unknown = unknown;
		this.#isComplete = complete;
		if (unknown !== undefined) {
			this.#changed.clear();
			this.#gone.clear();
		}
		for (const name of gone) {
			this.#changed.delete(formatBudgetName(name));
			this.#gone.set(formatBudgetName(name), name);
			this.#histories.delete(formatBudgetName(name));
		}
		for (const watched of changed) {
			const key = formatBudgetName(watched.budget.name);
			this.#gone.delete(key);
			this.#changed.set(key, watched);
		}
		for (const history of histories) this.#histories.set(formatBudgetName(history.budget), history);
		if (this.#changed.size + this.#gone.size > mostBudgets || this.#histories.size > mostBudgets) {
			throw new AgentProtocolError(`cannot watch more than ${mostBudgets} budgets of a cluster`);
		}
		this.#wake?.();
	}

	/** Resolves when there is something to take. */
	async filled(): Promise<void> {
		while (!this.#isDue) {
			const { promise, resolve } = Promise.withResolvers<void>();
			this.#wake = resolve;
			await promise;
		}
	}

	take(): BudgetsUpdate {
		const changed = takeSome(this.#changed, mostInOne);
		const gone = takeSome(this.#gone, mostInOne);
		const owes = this.#changed.size + this.#gone.size > 0;
		// Current states are sent before histories.
		const histories = owes ? [] : takeSome(this.#histories, mostInOne - changed.length);
		this.#isDue = owes || this.#histories.size > 0;
		return {
			changed,
			gone,
			complete: this.#isComplete && !owes,
			...(histories.length > 0 && { histories }),
			...(this.#unknown !== undefined && { unknown: this.#unknown }),
		};
	}
}

function takeSome<T>(from: Map<string, T>, most: number): readonly T[] {
	const taken: T[] = [];
	for (const [key, value] of from) {
		if (taken.length === most) break;
		taken.push(value);
		from.delete(key);
	}
	return taken;
}
