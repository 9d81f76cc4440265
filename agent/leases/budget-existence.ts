// Checks that a budget exists in some member before its Lease is created. An account that may decide about all budgets of a namespace must
// not fill the lease namespace with made-up names.
//
// This cluster's budgets are looked up in the view and then by a GET, because the view may lag. The other members are asked for their
// lists, at most once a second for each namespace. If one of them gives no answer, the budget may exist there. So its Lease is created, at
// a limited rate, and the clean-up deletes Leases that no budget needs.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import { KeptAnswers } from "../process/kept-answers.ts";
import { TokenBucket } from "../process/token-bucket.ts";
import type { BudgetView } from "../views/object-views.ts";
import type { BudgetsElsewhere, ListedElsewhere } from "./budgets-elsewhere.ts";

interface BudgetExistenceOptions {
	readonly api: Pick<ClusterApi, "getBudget">;
	readonly budgets: Pick<BudgetView, "budgets">;
	readonly elsewhere: Pick<BudgetsElsewhere, "list">;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** For messages. */
	readonly cluster: string;
}

/** How long a list is used. A new budget in another member is found within this time. */
const listGoodForMs = 1_000;
/** How many lists are kept, one for each namespace. Members may have a thousand namespaces, but runs start only in some of them. */
const maxLists = 200;
/**
 * The rate of new Leases for budgets that were found nowhere while a member gave no answer. In a fleet without addresses, these are all
 * budgets that only other members have.
 */
const unknown = { perSecond: 0.5, burst: 20 };

export class BudgetExistence {
	readonly #options: BudgetExistenceOptions;
	readonly #lists: KeptAnswers<ListedElsewhere>;
	readonly #unknown: TokenBucket;

	constructor(options: BudgetExistenceOptions) {
		const { now } = options;
		this.#options = options;
		this.#lists = new KeptAnswers({ now, keepForMs: () => listGoodForMs, max: maxLists });
		this.#unknown = new TokenBucket({ ...unknown, now });
	}

	/**
	 * Rejects with AgentUnavailableError if no answer shows the budget. If a member gave no answer, it still resolves, as often as `unknown`
	 * allows.
	 */
	async assertExists(budget: BudgetName): Promise<void> {
		const { api, budgets, elsewhere, cluster } = this.#options;
		const isIn = (found: Iterable<MemberBudget>): boolean => [...found].some(({ name }) => name.name === budget.name);
		if (isIn(budgets.budgets(budget.namespace))) return;
		if (await api.getBudget(budget)) return;
		const found = await this.#lists.get(budget.namespace, () => elsewhere.list(budget.namespace));
		if (isIn(found.budgets) || (found.failure && this.#unknown.take())) return;
		throw new AgentUnavailableError(
			`cannot acquire budget "${formatBudgetName(budget)}" in cluster "${cluster}": it exists in no member that answers`,
			cluster,
		);
	}
}
