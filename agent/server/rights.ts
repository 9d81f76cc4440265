// Checks who may decide about a budget: accounts with the verb `acquire` on it in the cluster that issued their token. The verb `release`
// is the right to end what others hold. Kubernetes itself knows neither verb, so they give no right to change anything.
import { type BudgetName, budgetApi, formatBudgetName } from "../../disruption/budget/budget.ts";
import { shortenTo } from "../../disruption/quote.ts";
import type { BudgetScope } from "../../proto/listed-lease.ts";
import { KeptAnswers } from "../process/kept-answers.ts";
import type { TokenCaller } from "../peers/caller.ts";
import type { BudgetVerb, Reviews } from "./identity.ts";

interface RightsOptions {
	readonly reviews: Pick<Reviews, "may">;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** For messages. */
	readonly cluster: string;
}

/** How long a revoked right continues to work at most. */
const allowedForMs = 60_000;
/** Short enough that a new right works soon, and long enough that a client in a loop costs the API server little. */
const refusedForMs = 3_000;
/** Enough for a hundred budgets of each of fifty users; about 300 bytes each. */
const maxKept = 5_000;
const longestName = 253;

export class Rights {
	readonly #options: RightsOptions;
	readonly #allowed: KeptAnswers<boolean>;

	constructor(options: RightsOptions) {
		this.#options = options;
		this.#allowed = new KeptAnswers({
			now: options.now,
			keepForMs: (allowed) => (allowed ? allowedForMs : refusedForMs),
			max: maxKept,
		});
	}

	/**
	 * Returns why the caller may not use the verb on the budget; undefined if it may. Without a name, checks all budgets of the namespace;
	 * namespace "" means all namespaces. Rejects with AgentUnavailableError if the API server does not answer.
	 */
	async refusal(
		caller: TokenCaller,
		{ namespace, name = "" }: BudgetScope,
		verb: BudgetVerb = "acquire",
	): Promise<string | undefined> {
		const { cluster } = this.#options;
		const budget = { namespace, name };
		const may = (each: BudgetName): Promise<boolean> => this.#may(caller, each, verb);
		const isKnown = this.#allowed.has(keyOf(caller, budget, verb));
		if (isKnown && (await may(budget))) return undefined;
		// Most rights are for a whole namespace, so one answer serves all its budgets.
		if (await may({ namespace, name: "" })) return undefined;
		if (!isKnown && name !== "" && (await may(budget))) return undefined;
		return `User "${shortenTo(caller.user.username, longestName)}" ${verb === "acquire" ? "may not acquire" : "may not release"} ${budgetApi.resource}.${budgetApi.group}${name === "" ? "" : ` "${name}"`} in ${namespace === "" ? "all namespaces" : `namespace "${namespace}"`} of cluster "${cluster}"`;
	}

	#may(caller: TokenCaller, budget: BudgetName, verb: BudgetVerb): Promise<boolean> {
		return this.#allowed.get(keyOf(caller, budget, verb), () => this.#options.reviews.may(caller.user, budget, verb));
	}
}

function keyOf({ tokenHash }: TokenCaller, budget: BudgetName, verb: BudgetVerb): string {
	return `${tokenHash} ${verb} ${formatBudgetName(budget)}`;
}
