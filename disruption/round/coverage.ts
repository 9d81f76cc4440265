// Finds the budgets that cover a pod, for the version that its eviction will name (coverage-judgement.ts). It requests lists and reads the
// pod until both are fresh enough. If no member has a budget in the namespace, one list serves many pods and no pod is read.
//
// Pods that ask within half a second share one list of the budgets of all members. An older list is enough to choose the budgets of a
// round: the round reads all budgets again, and does not grant a pod that other budgets cover by then. An older list never proves that no
// budget covers a pod.
import type { RoundBudget } from "../budget/budget.ts";
import type { MemberBudget } from "../budget/cluster.ts";
import {
	type BudgetsOfMember,
	coverageFreshForMs,
	type CoverageJudgement,
	type Covered,
	findCovering,
	judgeCoverage,
	type ListedBudgets,
} from "../budget/coverage-judgement.ts";
import { AgentProtocolError } from "../errors.ts";
import { isTooLate, patientForMs, readAfterChange } from "./eviction.ts";
import type { RoundRuntime } from "./round-runtime.ts";
import { isQuietNow, type PodReading, seeAnew, type WatchedPod } from "./seen-pod.ts";

export interface CoveredPod {
	readonly namespace: string;
	readonly labels: Readonly<Record<string, string>>;
}

/** Lists the budgets of these namespaces in all members. Fails if one member gives no answer. */
export interface BudgetLister {
	listBudgets(namespaces: readonly string[]): Promise<readonly BudgetsOfMember[]>;
	/** A list that was requested before the first call of listBudgets(). */
	readonly listedAhead?: ListedBudgets | undefined;
}

/** Long enough for the pods of a node to share one list, too short for a person to notice. */
const collectForMs = 10;
/** Older lists are requested again, so that a list is still fresh when it is used. */
const sharedForMs = coverageFreshForMs / 2;

interface SharedList {
	readonly namespaces: Set<string>;
	readonly list: Promise<ListedBudgets>;
}

interface UnderWay {
	readonly namespaces: ReadonlySet<string>;
	readonly askedAt: number;
	readonly list: Promise<ListedBudgets>;
}

export class CoverageLists {
	readonly #fleet: BudgetLister;
	readonly #runtime: Pick<RoundRuntime, "now" | "sleep">;
	/** By namespace. */
	readonly #listed = new Map<string, ListedBudgets>();
	#collecting: SharedList | undefined;
	/** By namespace. */
	readonly #underWay = new Map<string, UnderWay>();

	constructor(fleet: BudgetLister, runtime: Pick<RoundRuntime, "now" | "sleep">) {
		this.#fleet = fleet;
		this.#runtime = runtime;
		const ahead = fleet.listedAhead;
		for (const namespace of ahead?.namespaces ?? []) if (ahead) this.#listed.set(namespace, ahead);
	}

	/**
	 * Returns a list that was requested after the call, or at most half a second before. Rejects with AgentUnavailableError if a member
	 * gives no answer. Rejects with AgentProtocolError if a member's answer for this namespace cannot be used.
	 */
	async list(namespace: string): Promise<ListedBudgets> {
		const known = this.#listed.get(namespace);
		if (known && this.#isYoung(known)) return known;
		const { namespaces, list } = this.#listUnderWay(namespace) ?? this.#joinNext(namespace);
		return list.catch((error: unknown) => {
			// One namespace can make a member refuse the whole request, for example with 5,001 budgets. Pods of other namespaces must continue.
			if (namespaces.size === 1 || !(error instanceof AgentProtocolError)) throw error;
			return this.#alone(namespace);
		});
	}

	#listUnderWay(namespace: string): UnderWay | undefined {
		const underWay = this.#underWay.get(namespace);
		return underWay && this.#isYoung(underWay) ? underWay : undefined;
	}

	#joinNext(namespace: string): SharedList {
		this.#collecting ??= this.#collect();
		this.#collecting.namespaces.add(namespace);
		return this.#collecting;
	}

	#alone(namespace: string): Promise<ListedBudgets> {
		const underWay = this.#listUnderWay(namespace);
		if (underWay?.namespaces.size === 1) return underWay.list;
		const { promise, resolve } = Promise.withResolvers<ListedBudgets>();
		resolve(this.#ask([namespace], promise));
		return promise;
	}

	/** Drops all lists, because the fleet has changed. */
	forget(): void {
		this.#listed.clear();
		this.#underWay.clear();
	}

	/**
	 * Returns the budgets that cover these labels by the last list of the namespace, to start a round with. Undefined if there are none, or if
	 * one of them is unreadable.
	 */
	findKnown({ namespace, labels }: CoveredPod): readonly RoundBudget[] | undefined {
		const { budgets } = findCovering(this.#known(namespace), { namespace, labels });
		return budgets.length > 0 ? budgets : undefined;
	}

	/** Whether the last list of the namespace had budgets, so that labels matter. */
	hadBudgets(namespace: string): boolean {
		return this.#known(namespace).some(({ name }) => name.namespace === namespace);
	}

	/** Returns an empty list before the first list of the namespace, and after forget(). */
	lastListed(namespace: string): readonly BudgetsOfMember[] {
		return this.#listed.get(namespace)?.members ?? [];
	}

	#known(namespace: string): readonly MemberBudget[] {
		return this.lastListed(namespace).flatMap(({ budgets }) => budgets);
	}

	#isYoung({ askedAt }: { readonly askedAt: number }): boolean {
		return this.#runtime.now() - askedAt <= sharedForMs;
	}

	#collect(): SharedList {
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
		const underWay = { namespaces: new Set(namespaces), askedAt, list };
		for (const namespace of namespaces) this.#underWay.set(namespace, underWay);
		try {
			const members = await this.#fleet.listBudgets(namespaces);
			const listed = { askedAt, namespaces, members };
			for (const namespace of namespaces) {
				// A later list may have been answered first, or forget() may have been called meanwhile.
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

/** `guard` returns whether the pod is still uncovered by the same lists. Call it right before the eviction is written. */
export type PodCoverage = Exclude<Covered<{ readonly guard: () => boolean }>, { kind: "listAgain" | "readAgain" }>;

export interface PodCoverageDependencies {
	readonly lists: CoverageLists;
	readonly memberIds: () => readonly string[];
	readonly read: () => Promise<PodReading | undefined>;
	readonly runtime: Pick<RoundRuntime, "now" | "sleep">;
	/**
	 * Whether labels that were read earlier may decide that the pod is covered. They may not after a round that started with such labels, or
	 * if no round follows.
	 */
	readonly mayBeginRound: boolean;
}

/** After this many lists and reads without a result, the pod waits before it is tried again. */
const maxAttempts = 5;

/**
 * Finds the budgets that cover the pod: lists and reads again, at most maxAttempts times. For a busy pod, it also waits for the right
 * moment to evict it. An `uncovered` answer is only as fresh as its lists, and `guard` checks them again. Rejects with the errors of
 * CoverageLists.list() and of `read`.
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
		const isReading = mustRead;
		const [listed, found] = await Promise.all([lists.list(namespace), isReading && seeAnew(pod, read, now)]);
		if (isReading && !found) return { kind: "gone" };
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
				// Earlier labels are enough to start a round, because the round counts by the current labels.
				const known = mayBeginRound ? lists.findKnown({ namespace, labels: pod.seen.labels }) : undefined;
				if (known) return { kind: "covered", budgets: known };
				attempt += 1;
				continue;
			}
			case "unreadable":
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
	const names = slow.map(({ clusterName }) => clusterName).join(", ");
	const took = `${((now - askedAt) / 1000).toFixed(1)} s`;
	const what =
		slow.length > 0
			? `cluster ${names} took ${took} to list its budgets`
			: `the lists of budgets took ${took} together`;
	return (
		`${what}. A list older than ${coverageFreshForMs / 1000} s may miss a new budget, so it cannot be used: ` +
		`is ${slow.length > 0 ? "its API server" : "the connection to the agents"} slow?`
	);
}

async function waitForChange(
	pod: WatchedPod,
	changesEveryMs: number,
	{ read, runtime }: Pick<PodCoverageDependencies, "read" | "runtime">,
): Promise<"gone" | "seen"> {
	const { found, changed } = await readAfterChange(
		changesEveryMs,
		pod.seen.resourceVersion,
		async () => {
			const seen = await seeAnew(pod, read, () => runtime.now());
			// Only a new version counts as a change here, because a terminating pod would count as changed at every read.
			return seen && { ...seen, isTerminating: false };
		},
		runtime,
	);
	if (!changed) isQuietNow(pod);
	return found ? "seen" : "gone";
}
