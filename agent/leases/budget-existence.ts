// Whether a budget exists in some member, before a Lease is made for it: whoever may decide about all budgets of a namespace
// must not fill the lease namespace by making names up.
//
// Budgets of this cluster are known by the view, or by a GET where it lags. The other members are asked for their lists, at most once a
// second for each namespace. Where one of them cannot be asked, the budget may exist there: such Leases are few a minute, and
// the clean-up deletes those that nobody needs.
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

/** A budget that was just made is found this late. */
const listGoodForMs = 1_000;
/** Members with a thousand namespaces are asked about those where somebody begins. */
const maxLists = 200;
/** A fleet without addresses begins with budgets that are in some members only. */
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

	/** Rejects with AgentUnavailableError where no member has the budget, as far as can be told. */
	async assertExists(budget: BudgetName): Promise<void> {
		const { api, budgets, elsewhere, cluster } = this.#options;
		const isIn = (found: Iterable<MemberBudget>): boolean => [...found].some(({ name }) => name.name === budget.name);
		if (isIn(budgets.budgets(budget.namespace))) return;
		if (await api.getBudget(budget)) return;
		const found = await this.#lists.get(budget.namespace, () => elsewhere.list(budget.namespace));
		if (isIn(found.budgets) || (found.failure && this.#unknown.take())) return;
		throw new AgentUnavailableError(
			`Cannot acquire budget "${formatBudgetName(budget)}" in cluster "${cluster}": it exists in no member that answers`,
			cluster,
		);
	}
}
