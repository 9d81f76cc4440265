// Lists of the budgets in all members, shared by the pods that ask within a second: a budget made meanwhile is obeyed by
// the next one. An older list is enough to say which budgets to ask: their round reads all budgets of the namespace anew,
// and a pod that others cover by now is not granted. That nobody covers a pod is never said from here
// (coverage-judgement.ts).
import { formatBudgetName, parseBudgetSpec, type RoundBudget } from "../budget/budget.ts";
import type { MemberBudget } from "../budget/cluster.ts";
import {
	type BudgetsOfMember,
	coverageFreshForMs,
	findCovering,
	type ListedBudgets,
} from "../budget/coverage-judgement.ts";
import { AgentProtocolError, InvalidBudgetError } from "../errors.ts";
import type { RoundRuntime } from "./round-runtime.ts";

export interface CoveredPod {
	readonly namespace: string;
	readonly labels: Readonly<Record<string, string>>;
}

/** Lists the budgets of namespaces in all members; one without an answer fails it. */
export interface BudgetLister {
	listBudgets(namespaces: readonly string[]): Promise<readonly BudgetsOfMember[]>;
	/** What was listed before anybody asked; as old as it says. */
	readonly listedAhead?: ListedBudgets | undefined;
}

/** Long enough for the pods of a node to ask together, short enough not to be felt. */
const collectForMs = 10;
/** What is older is asked for anew, so that its answer can still be used for something. */
const sharedForMs = coverageFreshForMs / 2;

export class CoverageLists {
	readonly #fleet: BudgetLister;
	readonly #runtime: Pick<RoundRuntime, "now" | "sleep">;
	/** By namespace, as it was last listed. */
	readonly #listed = new Map<string, ListedBudgets>();
	#collecting: { readonly namespaces: Set<string>; readonly list: Promise<ListedBudgets> } | undefined;
	/** By namespace: a list that is on its way. */
	readonly #underWay = new Map<string, { readonly askedAt: number; readonly list: Promise<ListedBudgets> }>();

	constructor(fleet: BudgetLister, runtime: Pick<RoundRuntime, "now" | "sleep">) {
		this.#fleet = fleet;
		this.#runtime = runtime;
		const ahead = fleet.listedAhead;
		for (const namespace of ahead?.namespaces ?? []) if (ahead) this.#listed.set(namespace, ahead);
	}

	/**
	 * A list that is young when it is asked for. Rejects with AgentUnavailableError where a member gives no answer, with
	 * AgentProtocolError where one gives an answer for this namespace that cannot be used.
	 */
	async list(namespace: string): Promise<ListedBudgets> {
		const known = this.#listed.get(namespace);
		if (known && this.#isYoung(known)) return known;
		const underWay = this.#underWay.get(namespace);
		if (underWay && this.#isYoung(underWay)) return underWay.list;
		this.#collecting ??= this.#collect();
		const { namespaces, list } = this.#collecting;
		namespaces.add(namespace);
		return list.catch((error: unknown) => {
			// An answer that is refused may be so for what one namespace has in it, 5,001 budgets: the pods of others go on.
			if (namespaces.size === 1 || !(error instanceof AgentProtocolError)) throw error;
			return this.#alone(namespace);
		});
	}

	#alone(namespace: string): Promise<ListedBudgets> {
		const underWay = this.#underWay.get(namespace);
		if (underWay && this.#isYoung(underWay)) return underWay.list;
		const { promise, resolve } = Promise.withResolvers<ListedBudgets>();
		resolve(this.#ask([namespace], promise));
		return promise;
	}

	/** What was listed says nothing any more: the fleet is another one. */
	forget(): void {
		this.#listed.clear();
		this.#underWay.clear();
	}

	/** Who covered the pod when its namespace was last listed, to begin a round with. */
	findKnown({ namespace, labels }: CoveredPod): readonly RoundBudget[] | undefined {
		const covering = findCovering(this.#known(namespace), { namespace, labels });
		return covering.kind === "covered" ? covering.budgets : undefined;
	}

	/** Whether labels mattered when the namespace was last listed. */
	hadBudgets(namespace: string): boolean {
		return this.#known(namespace).some(({ name }) => name.namespace === namespace);
	}

	/** The last list of the namespace; none before the first one. */
	lastListed(namespace: string): readonly BudgetsOfMember[] {
		return this.#listed.get(namespace)?.members ?? [];
	}

	#known(namespace: string): readonly MemberBudget[] {
		return this.lastListed(namespace).flatMap(({ budgets }) => budgets);
	}

	#isYoung({ askedAt }: { readonly askedAt: number }): boolean {
		return this.#runtime.now() - askedAt <= sharedForMs;
	}

	#collect(): { readonly namespaces: Set<string>; readonly list: Promise<ListedBudgets> } {
		const namespaces = new Set<string>();
		const collected = this.#runtime.sleep(collectForMs, new AbortController().signal);
		const list: Promise<ListedBudgets> = collected.then(async () => {
			this.#collecting = undefined;
			return this.#ask([...namespaces].toSorted(), list);
		});
		return { namespaces, list };
	}

	async #ask(namespaces: readonly string[], list: Promise<ListedBudgets>): Promise<ListedBudgets> {
		const askedAt = this.#runtime.now();
		const underWay = { askedAt, list };
		for (const namespace of namespaces) this.#underWay.set(namespace, underWay);
		try {
			const members = await this.#fleet.listBudgets(namespaces);
			const listed = { askedAt, namespaces, members };
			for (const namespace of namespaces) {
				// One that was asked for later may have been answered before, and the fleet may be another one by now.
				if (this.#underWay.get(namespace) === underWay) this.#listed.set(namespace, listed);
			}
			return listed;
		} finally {
			for (const namespace of namespaces) {
				if (this.#underWay.get(namespace) === underWay) this.#underWay.delete(namespace);
			}
		}
	}
}

/** Why nobody can read the budget, in the words of the member that has it so. */
export function unreadableMessage(budgets: readonly MemberBudget[], name: string): string {
	for (const budget of budgets) {
		if (formatBudgetName(budget.name) !== name) continue;
		try {
			parseBudgetSpec(budget.spec);
		} catch (error) {
			if (error instanceof InvalidBudgetError) return `budget ${name}: ${error.message}`;
			throw error;
		}
	}
	return `budget ${name} cannot be read`;
}
