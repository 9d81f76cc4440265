// Predicts what a round would decide for pods now, for a dry run on the server. Like the round, it judges with decide(), but it counts
// without an acquisition, so nothing is written. Each pod is judged against what the pods before it would leave of the budgets. A pod that
// would wait only for those pods counts as evictable after them.
import { type CountedMember, lookAtBudgets } from "../../disruption/round/availability.ts";
import { formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import type { Count, UnavailablePod } from "../../disruption/budget/cluster.ts";
import { decide, type Judgement } from "../../disruption/budget/decide.ts";
import type { BudgetCounts } from "../../disruption/budget/allowance.ts";
import { withPodsDown } from "../../disruption/budget/healthy.ts";
import type { RoundCandidate, Verdict, Waiting } from "../../disruption/budget/verdict.ts";

/** `after` is what the pod would wait for first. That wait ends when other pods of this run are back up. */
export type PretendedVerdict = Verdict<{ readonly kind: "goes"; readonly after?: Waiting }>;

export interface PretendedPod extends RoundCandidate {
	/** As in EvictionJob: whether to expect no healthy replacement. */
	readonly staysAway: boolean;
}

/** The holder that a dry run names for pods that this run would have evicted. */
export const pretendedHolder = "this run";

/** A pod that this run would have evicted before the next one is judged. */
interface Taken {
	readonly pod: PretendedPod;
	readonly budgets: ReadonlySet<string>;
}

interface Batch {
	readonly pods: PretendedPod[];
	readonly verdicts: Promise<ReadonlyMap<PretendedPod, PretendedVerdict>>;
}

/** Long enough for the pods of a node to share one request. */
const collectForMs = 10;
/** A node has at most 110 pods by default. An agent accepts 1,000 candidates at once. */
const maxCandidates = 500;

export class PretendedGrants {
	readonly #members: () => readonly CountedMember[];
	readonly #collect: (ms: number) => Promise<void>;
	/** Pods that share one request, by their budgets. */
	readonly #collecting = new Map<string, Batch>();
	readonly #taken: Taken[] = [];
	#turn: Promise<unknown> = Promise.resolve();

	constructor(members: () => readonly CountedMember[], collect: (ms: number) => Promise<void>) {
		this.#members = members;
		this.#collect = collect;
	}

	/** `budgets` are all budgets that cover the pod. Rejects as look() does. */
	async ask(pod: PretendedPod, budgets: readonly RoundBudget[]): Promise<PretendedVerdict> {
		const key = JSON.stringify(budgets);
		const known = this.#collecting.get(key);
		const batch = known && known.pods.length < maxCandidates ? known : this.#begin(key, budgets);
		batch.pods.push(pod);
		const verdict = (await batch.verdicts).get(pod);
		if (!verdict) throw new Error(`pod ${pod.pod.name} was asked for and not judged`);
		return verdict;
	}

	/** A batch is judged after the earlier batches, so that it sees what they would have taken. */
	#begin(key: string, budgets: readonly RoundBudget[]): Batch {
		const pods: PretendedPod[] = [];
		const before = this.#turn;
		const judge = async (): Promise<ReadonlyMap<PretendedPod, PretendedVerdict>> => {
			await this.#collect(collectForMs);
			await before;
			if (this.#collecting.get(key) === batch) this.#collecting.delete(key);
			return this.#judgeAll(pods, budgets);
		};
		const verdicts = judge();
		const batch: Batch = { pods, verdicts };
		this.#collecting.set(key, batch);
		// The callers of this batch get its failure. The next batch makes its own request.
		this.#turn = verdicts.catch(() => undefined);
		return batch;
	}

	async #judgeAll(
		pods: readonly PretendedPod[],
		budgets: readonly RoundBudget[],
	): Promise<ReadonlyMap<PretendedPod, PretendedVerdict>> {
		const members = this.#members();
		const memberIds = members.map(({ id }) => id);
		const counted = await lookAtBudgets(members, budgets, pods);
		return new Map(pods.map((pod) => [pod, this.#judge(pod, counted, memberIds)]));
	}

	#judge(pod: PretendedPod, counted: readonly BudgetCounts[], memberIds: readonly string[]): PretendedVerdict {
		const judge = (taken: readonly Taken[]): Judgement => {
			const [judgement] = decide(memberIds, withoutTaken(counted, taken), [pod]);
			if (!judgement) throw new Error("a decision without an answer");
			return judgement;
		};
		const first = judge(this.#taken);
		if (first.kind === "grantable") {
			if (isHealthy(pod, counted)) this.#take(pod, first.budgets);
			return { kind: "goes" };
		}
		if (first.kind !== "waiting" || first.reason !== "BudgetExhausted") return first;
		const later = judge(this.#taken.filter((taken) => taken.pod.staysAway));
		if (later.kind !== "grantable") return later;
		// By then the pods before it are back. A gap remains only if this pod itself is not replaced.
		if (pod.staysAway && isHealthy(pod, counted)) this.#take(pod, later.budgets);
		return { kind: "goes", after: first };
	}

	#take(pod: PretendedPod, budgets: Extract<Judgement, { kind: "grantable" }>["budgets"]): void {
		this.#taken.push({ pod, budgets: new Set(budgets.map(formatBudgetName)) });
	}
}

/**
 * Subtracts the pods that this run would have evicted. If another run has evicted one of them meanwhile, it is subtracted twice. So the
 * prediction may allow too few pods, but never too many.
 */
function withoutTaken(counted: readonly BudgetCounts[], taken: readonly Taken[]): readonly BudgetCounts[] {
	return counted.map(({ budget, counts }) => {
		const name = formatBudgetName(budget.name);
		const ofBudget = taken.filter(({ budgets }) => budgets.has(name)).map(({ pod }) => pod);
		return { budget, counts: counts.flatMap((count) => withoutPods(count, ofBudget)) };
	});
}

function withoutPods(count: Count, pods: readonly PretendedPod[]): readonly Count[] {
	const here = pods.filter(({ clusterId }) => clusterId === count.clusterId);
	const unavailable = here.map(({ pod: { namespace, name } }): UnavailablePod => {
		return { namespace, name, why: "Reserved", holder: pretendedHolder };
	});
	const told = { ...count, unavailable: [...unavailable, ...count.unavailable] };
	return withPodsDown([told], count.clusterId, here.length);
}

function isHealthy({ clusterId, pod }: PretendedPod, counted: readonly BudgetCounts[]): boolean {
	return counted.some(({ counts }) =>
		counts.some(
			(count) =>
				count.clusterId === clusterId &&
				count.candidates.some((state) => state.kind === "present" && state.pod.uid === pod.uid && state.healthy),
		),
	);
}
