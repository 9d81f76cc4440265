// Which budgets cover a pod, judged for the version that its eviction would name (coverage-judgement.ts): asks for lists
// and reads the pod until both are young enough. Where no member has a budget in the namespace, that is one list for many
// pods and no read.
import {
	type CoverageJudgement,
	coverageFreshForMs,
	judgeCoverage,
	type ListedBudgets,
} from "../budget/coverage-judgement.ts";
import { isTooLate, patientForMs, readAfterChange } from "./eviction.ts";
import type { RoundRuntime } from "./round-runtime.ts";
import { type CoverageLists, unreadableMessage } from "./coverage-lists.ts";
import { isQuietNow, type PodReading, seeAnew, type WatchedPod } from "./seen-pod.ts";

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
