// Reads budgets as the other members of the fleet have them.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";

interface BudgetsElsewhereOptions {
	/** Returns the other members. A promise rejects if its member cannot be asked. */
	readonly members: () => Promise<readonly Promise<Pick<AgentCluster, "listBudgets">>[]>;
	/** This cluster's name, for messages. */
	readonly cluster: string;
}

/** The budgets of one namespace, from the members that answered. */
export interface ListedElsewhere {
	readonly budgets: readonly MemberBudget[];
	/** The first error of a member that gave no answer. That member may have further budgets. */
	readonly failure?: { readonly reason: unknown };
}

export class BudgetsElsewhere {
	readonly #options: BudgetsElsewhereOptions;

	constructor(options: BudgetsElsewhereOptions) {
		this.#options = options;
	}

	async list(namespace: string): Promise<ListedElsewhere> {
		const members = await this.#options.members();
		const lists = await Promise.allSettled(members.map(async (member) => (await member).listBudgets([namespace])));
		const failed = lists.find((list) => list.status === "rejected");
		return {
			budgets: lists
				.flatMap((list) => (list.status === "fulfilled" ? list.value.budgets : []))
				.filter(({ name }) => name.namespace === namespace),
			...(failed && { failure: { reason: failed.reason } }),
		};
	}

	/** Rejects if no other member has the budget and one of them cannot be asked. */
	async find(budget: BudgetName): Promise<readonly MemberBudget[]> {
		const { budgets, failure } = await this.list(budget.namespace);
		const found = budgets.filter(({ name }) => name.name === budget.name);
		if (found.length > 0 || !failure) return found;
		const { cluster } = this.#options;
		const { reason: cause } = failure;
		throw new AgentUnavailableError(
			`cannot find budget "${formatBudgetName(budget)}", which cluster "${cluster}" does not have, in the other members: ` +
				`${cause instanceof Error ? cause.message : String(cause)}. Make the budget in every member`,
			cluster,
			{ cause },
		);
	}
}
