// The budgets that cover a pod, from lists of all members that begin after the question: a budget made meanwhile is
// obeyed, and many pods that ask at once share one list. An earlier list is enough to say which budgets to ask: their round
// reads all budgets of the namespace anew, and a pod that others cover by now is not granted.
import { formatBudgetName, parseBudgetSpec } from "../disruption/budget.ts";
import type { MemberBudget } from "../disruption/cluster.ts";
import { coveringBudgets } from "../disruption/coverage.ts";
import type { RoundBudget } from "../disruption/decide.ts";
import { InvalidBudgetError } from "../disruption/errors.ts";
import type { RoundRuntime } from "../disruption/round-runtime.ts";
import type { Fleet } from "./fleet.ts";

export type Coverage =
	| { readonly kind: "none" }
	| { readonly kind: "covered"; readonly budgets: readonly RoundBudget[] }
	/** A budget of the pod's namespace that nobody can read: it may cover the pod. */
	| { readonly kind: "unreadable"; readonly message: string };

export interface CoveredPod {
	readonly namespace: string;
	readonly labels: Readonly<Record<string, string>>;
}

/** Long enough for the pods of a node to ask together, short enough not to be felt. */
const collectForMs = 10;

export class CoverageLists {
	readonly #fleet: Pick<Fleet, "listBudgets">;
	readonly #runtime: Pick<RoundRuntime, "sleep">;
	/** By namespace, as it was last listed. */
	readonly #listed = new Map<string, readonly MemberBudget[]>();
	#collecting: { readonly namespaces: Set<string>; readonly list: Promise<readonly MemberBudget[]> } | undefined;

	constructor(fleet: Pick<Fleet, "listBudgets">, runtime: Pick<RoundRuntime, "sleep">) {
		this.#fleet = fleet;
		this.#runtime = runtime;
	}

	/** Rejects with AgentUnavailableError where a member gives no answer. */
	async coverageOf(pod: CoveredPod): Promise<Coverage> {
		return judgeCoverage(await this.#list(pod.namespace), pod);
	}

	/** Who covered the pod when its namespace was last listed. Never that nobody does: only a new list can say so. */
	findKnown(pod: CoveredPod): Extract<Coverage, { kind: "covered" }> | undefined {
		const coverage = judgeCoverage(this.#listed.get(pod.namespace) ?? [], pod);
		return coverage.kind === "covered" ? coverage : undefined;
	}

	#list(namespace: string): Promise<readonly MemberBudget[]> {
		if (!this.#collecting) {
			const namespaces = new Set<string>();
			const list = this.#runtime.sleep(collectForMs, new AbortController().signal).then(async () => {
				this.#collecting = undefined;
				const budgets = await this.#fleet.listBudgets([...namespaces].toSorted());
				for (const each of namespaces) this.#listed.set(each, budgets);
				return budgets;
			});
			this.#collecting = { namespaces, list };
		}
		this.#collecting.namespaces.add(namespace);
		return this.#collecting.list;
	}
}

/** `budgets`: those of all members. */
export function judgeCoverage(budgets: readonly MemberBudget[], pod: CoveredPod): Coverage {
	const covering = coveringBudgets(budgets, pod);
	if (covering.length === 0) return { kind: "none" };
	const readable: RoundBudget[] = [];
	for (const { name, selector } of covering) {
		if (!selector) return { kind: "unreadable", message: problemOf(budgets, formatBudgetName(name)) };
		readable.push({ name, selector });
	}
	return { kind: "covered", budgets: readable };
}

function problemOf(budgets: readonly MemberBudget[], name: string): string {
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
