// Requests for grants in, answers out. Those for the same budgets wait in one line, and go through rounds together: one after the
// other for all that wait, and between them a wait that ends as soon as a look at the counts says that the budgets allow a
// disruption again.
//
// Guarantee: a grant is a round's (round.ts), and is handed out once, to whoever asked for it; where nobody waits for it any more, its
// reservation is given back. Assumptions: those of round.ts.
import { formatBudgetName, type RoundBudget } from "../budget/budget.ts";
import type { GrantAnswer, GrantPorts, GrantRequest } from "./grant-request.ts";
import { GrantRounds } from "./grant-rounds.ts";

export class GrantQueue {
	readonly #ports: GrantPorts;
	/** By their budgets. */
	readonly #rounds = new Map<string, GrantRounds>();
	readonly #budgets = new Map<string, RoundBudget>();

	constructor(ports: GrantPorts) {
		this.#ports = ports;
	}

	/** Those under which something was asked for. */
	get budgets(): readonly RoundBudget[] {
		return [...this.#budgets.values()];
	}

	/** Rejects only where there is a bug. */
	ask(request: GrantRequest): Promise<GrantAnswer> {
		const { budgets } = request;
		// The selector belongs to the key: after it was changed, rounds count by the new one.
		const key = JSON.stringify(budgets);
		const rounds = this.#rounds.get(key) ?? new GrantRounds(budgets, this.#ports);
		this.#rounds.set(key, rounds);
		for (const budget of budgets) this.#budgets.set(formatBudgetName(budget.name), budget);
		return rounds.ask(request);
	}

	/** Resolves when nothing is under way any more: grants have been ended or given back. */
	async settled(): Promise<void> {
		await Promise.all([...this.#rounds.values()].map((rounds) => rounds.settled()));
	}
}
