// Which budgets cover a pod, judged for the version that its eviction would name (coverage-judgement.ts): asks for lists and reads the
// pod until both are young enough. Where no member has a budget in the namespace, that is one list for many pods and no read.
//
// Lists of the budgets in all members are shared by the pods that ask within a second: a budget made meanwhile is obeyed by the next one.
// An older list is enough to say which budgets to ask: their round reads all budgets of the namespace anew, and a pod that others cover by
// now is not granted. That nobody covers a pod is never said from such a list.
import { formatBudgetName, parseBudgetSpec, type RoundBudget } from "../budget/budget.ts";
import type { MemberBudget } from "../budget/cluster.ts";
import {
	type BudgetsOfMember,
	coverageFreshForMs,
	type CoverageJudgement,
	findCovering,
	judgeCoverage,
	type ListedBudgets,
} from "../budget/coverage-judgement.ts";
import { AgentProtocolError, InvalidBudgetError } from "../errors.ts";
import { isTooLate, patientForMs, readAfterChange } from "./eviction.ts";
import type { RoundRuntime } from "./round-runtime.ts";
import { isQuietNow, type PodReading, seeAnew, type WatchedPod } from "./seen-pod.ts";

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

export type PodCoverage =
	/** `guard`: whether the pod is still uncovered, by the same lists; call it right before the eviction is written. */
	| (Extract<CoverageJudgement, { kind: "uncovered" }> & { readonly guard: () => boolean })
	| Extract<CoverageJudgement, { kind: "covered" | "fleetsDiffer" }>
	/** `budget`: as NAMESPACE/NAME. */
	| { readonly kind: "unreadable"; readonly budget: string; readonly message: string }
	| { readonly kind: "gone" }
	/** Members that take longer to list their budgets than what they say is worth. */
	| { readonly kind: "tooSlow"; readonly message: string };

export interface PodCoverageDependencies {
	readonly lists: CoverageLists;
	readonly memberIds: () => readonly string[];
	/** Reads this very pod. */
	readonly read: () => Promise<PodReading>;
	readonly runtime: Pick<RoundRuntime, "now" | "sleep">;
	/** Whether old labels may say that the pod is covered: not after a round that began so. */
	readonly mayBeginRound: boolean;
}

/** Lists and reads in vain, before others have a turn. */
const maxAttempts = 5;

/**
 * If no budget covers the pod, that is only as fresh as the lists, and `guard` checks it. Rejects with AgentUnavailableError
 * if a member gives no answer, and as `read` does if the pod cannot be read.
 */
export async function coverPod(pod: WatchedPod, deps: PodCoverageDependencies): Promise<PodCoverage> {
	const { lists, memberIds, read, runtime, mayBeginRound } = deps;
	const { namespace } = pod.pod;
	const now = (): number => runtime.now();
	const triedAt = now();
	const patientUntil = triedAt + patientForMs;
	let slow = "";
	let mustRead = lists.hadBudgets(namespace) && now() - pod.seen.readAt > coverageFreshForMs;
	let isTimed = false;
	for (let attempt = 0; attempt < maxAttempts; ) {
		const [listed, found] = await Promise.all([lists.list(namespace), mustRead ? seeAnew(pod, read, now) : undefined]);
		if (found?.kind === "gone") return { kind: "gone" };
		const version = pod.seen;
		const judge = (): CoverageJudgement =>
			judgeCoverage({ namespace, version }, listed, { memberIds: memberIds(), now: now(), triedAt });
		const judged = judge();
		mustRead = judged.kind === "readAgain";
		switch (judged.kind) {
			case "listAgain":
				slow = slowMessage(listed, now());
				attempt += 1;
				continue;
			case "readAgain": {
				// Labels as they were are enough to begin a round with: it counts by those of now.
				const known = mayBeginRound ? lists.findKnown({ namespace, labels: pod.seen.labels }) : undefined;
				if (known) return { kind: "covered", budgets: known };
				attempt += 1;
				continue;
			}
			case "unreadable":
				return { kind: "unreadable", budget: judged.budget, message: messageOf(listed, judged.budget) };
			case "covered":
			case "fleetsDiffer":
				return judged;
			case "uncovered":
				break;
		}
		const { changes, readAt } = pod.seen;
		const free = { ...judged, guard: () => judge().kind === "uncovered" };
		if (judged.resourceVersion === undefined || !changes || now() >= patientUntil) return free;
		if (isTimed && changes.isMeasured && !isTooLate(now() - readAt, changes.everyMs)) return free;
		if ((await waitForChange(pod, changes.everyMs, deps)) === "gone") return { kind: "gone" };
		isTimed = true;
	}
	return { kind: "tooSlow", message: slow };
}

function slowMessage({ askedAt, members }: ListedBudgets, now: number): string {
	const slow = members.filter(({ tookMs = 0 }) => tookMs > coverageFreshForMs);
	const names = (slow.length > 0 ? slow : members).map(({ clusterName }) => clusterName).join(", ");
	return (
		`cluster ${names} took ${((now - askedAt) / 1000).toFixed(1)} s to list its budgets, and after more than ` +
		`${coverageFreshForMs / 1000} s nobody knows whether a new one covers the pod: is its API server slow?`
	);
}

async function waitForChange(
	pod: WatchedPod,
	changesEveryMs: number,
	{ read, runtime }: Pick<PodCoverageDependencies, "read" | "runtime">,
): Promise<"gone" | "seen"> {
	let gone = false;
	const { changed } = await readAfterChange(
		changesEveryMs,
		pod.seen.resourceVersion,
		async () => {
			const found = await seeAnew(pod, read, () => runtime.now());
			gone = found.kind === "gone";
			// That it terminates is no news: another version is.
			return found.kind === "gone" ? found : { ...found, kind: "present" as const };
		},
		runtime,
	);
	if (!changed) isQuietNow(pod);
	return gone ? "gone" : "seen";
}

function messageOf({ members }: ListedBudgets, budget: string): string {
	return unreadableMessage(
		members.flatMap(({ budgets }) => budgets),
		budget,
	);
}
