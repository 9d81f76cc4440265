// Finds a pod's budgets, gets its grant and evicts it. It repeats this until the eviction is accepted or has failed, the pod is gone, or a
// stop or the timeout ends it.
//
// Guarantee: a pod of a fleet's cluster is evicted under a grant of all budgets that cover it, except in two cases. Either the version that
// the eviction names has finished, is terminating or has not started. Or disruption/budget/coverage-judgement.ts allows it at that moment:
// no budget covers that version, or no member has a budget in the namespace. While members disagree about the fleet, no pod is granted or
// judged uncovered, but a pod that has not started is still evicted. The pauses between unsuccessful tries grow.
//
// Assumptions: those of coverage-judgement.ts, round.ts and eviction.ts. Pods of contexts without agents do not belong to the fleet.
import { formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import { coverageFreshForMs } from "../../disruption/budget/coverage-judgement.ts";
import { coverPod, type PodCoverage } from "../../disruption/round/coverage.ts";
import { askAgainAfterMs, classifyFailure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { GrantRequest } from "../../disruption/round/grant-request.ts";
import type { Place } from "../../disruption/round/places.ts";
import type { Wait as GrantWait } from "../../disruption/round/wait.ts";
import type { Reason } from "../events/reason.ts";
import { unlessOver } from "../kubernetes/unless-over.ts";
import { wouldWait } from "./dry-run-rounds.ts";
import type { EvictionJob } from "./eviction-job.ts";
import { podReader } from "./send-eviction.ts";
import { type EvictionStep, stepAfter, type TryAgain } from "./eviction-step.ts";
import { evictFree, sendFreely } from "./free-eviction.ts";
import { evictGranted } from "./granted-eviction.ts";
import { mayBeSent } from "./may-be-sent.ts";
import { failedPod, type PodOutcome, timedOut } from "./pod-outcome.ts";
import { pretendedWaitEvent, type Wait, waitingEvent, waitOf } from "./waiting-event.ts";
import type { CoveredRun, EvictionRun } from "./eviction-run.ts";

/** Milliseconds to pause after a try that sets no pause itself. The first pause is 0, because the next try sees what has changed. */
const pauses = [0, 250, 500, 1_000, 2_000, 5_000];
/** A try that took this long is not part of a fast loop, so the pauses start again at 0. */
const longTryMs = 10_000;
/**
 * Each budget needs a Lease in every cluster. Without this limit, a member that claims thousands of budgets would delay a run for minutes.
 */
const mostBudgetsOfAPod = 64;
/** A dry run evicts no pod, so waiting changes little. These tries are for an agent that restarts, or has not seen a pod yet. */
const dryRunTries = 3;

/** Resolves when the pod's eviction was accepted or has failed, when the pod is gone, or at a stop, the timeout or the loss of the node. */
export async function evictPod(
	job: EvictionJob,
	deps: EvictionRun,
): Promise<Exclude<EvictionStep, { kind: "again" | "over" }>> {
	const { stop, runtime, places, options } = deps;
	const ends = AbortSignal.any([stop, job.timeout.signal]);
	let reason: Reason | undefined;
	/** The message of the last try if clusters gave no answer in time. */
	let unanswered: string | undefined;
	let inVain = 0;
	for (let tries = 1; ; tries += 1) {
		if (places.isPaused) await places.resumed(ends);
		if (stop.aborted) return { kind: "stopped" };
		if (job.timeout.signal.aborted) {
			const last = unanswered === undefined ? undefined : { message: unanswered };
			return timedOut(job, { reason, last, isUnanswered: last !== undefined }, deps);
		}
		const startedAt = runtime.now();
		const step = await tryPod(job, { isFirst: tries === 1, ends }, deps);
		if (step.kind === "over") {
			if (stop.aborted) return { kind: "stopped" };
			return timedOut(job, { reason: step.last?.reason ?? reason, last: step.last }, deps);
		}
		if (step.kind !== "again") return step;
		job.isTold = step.isSameTry ?? false;
		if (options.dryRun && tries >= dryRunTries) return dryRunFailed(job, step);
		reason = step.reason ?? reason;
		const silence = step.reason === "PeerUnreachable" ? step.message : undefined;
		// An aborted try does not prove that members answer again.
		unanswered = ends.aborted ? (unanswered ?? silence) : silence;
		if (runtime.now() - startedAt >= longTryMs) inVain = 0;
		const pauseMs = step.afterMs > 0 ? step.afterMs : (pauses[Math.min(inVain++, pauses.length - 1)] ?? 0);
		if (pauseMs > 0) await runtime.sleep(pauseMs, ends);
	}
}

interface Try {
	readonly isFirst: boolean;
	/** Aborts on a stop, a timeout or the loss of the node. */
	readonly ends: AbortSignal;
}

/** Makes one try with the current fleet. If its members seem to have changed, they are asked again. */
async function tryPod(job: EvictionJob, { isFirst, ends }: Try, deps: EvictionRun): Promise<EvictionStep> {
	const { covered } = deps;
	const context = job.context.name;
	const isMember = covered?.fleet.memberOf(context) !== undefined;
	// A cluster that has not been a member during this run does not belong to the fleet.
	if (!covered || !(isMember || covered.contexts.has(context))) {
		return orAfterFailure(job, deps, () => sendFreely(job, {}, deps));
	}
	const { fleet, contexts, changes } = covered;
	const asked = fleet.members;
	let step: EvictionStep | undefined;
	if (isMember) {
		contexts.add(context);
		step = await orAfterFailure(job, deps, () => tryMember(job, { isFirst, ends }, deps, covered));
		const differs = step.kind === "again" && step.reason === "FleetsDiffer";
		const isRefused = step.kind === "failed" && step.reason === "AgentRefused";
		if (!differs && !isRefused) return step;
	}
	return orAfterFailure(job, deps, async () => {
		// The members may have changed meanwhile.
		const answer = await unlessOver(changes.ask(asked), ends);
		if (answer === undefined) return { kind: "again", afterMs: 0 };
		if (typeof answer !== "string") {
			return answer.reason === "FleetsDiffer" ? waitForFleet(job, answer.message, deps) : stepAfter(job, answer);
		}
		if (!step)
			return waitForFleet(job, `the cluster of context ${context} is not a member of the fleet any more`, deps);
		if (answer === "changed") return { kind: "again", afterMs: 0 };
		// The fleet is unchanged. If its members disagreed in the try, the pod waits. A refusal stands.
		return step.kind === "again" ? waitForFleet(job, step.message ?? "the members of the fleet disagree", deps) : step;
	});
}

/** Finds the budgets that cover the pod, and requests a grant, or evicts the pod if it needs none. */
async function tryMember(
	job: EvictionJob,
	{ isFirst, ends }: Try,
	deps: EvictionRun,
	covered: CoveredRun,
): Promise<EvictionStep> {
	const { lists, currentBudgets, judging } = covered;
	const { reachability, runtime } = deps;
	if (job.seen.hasNotStarted) return evictFree(job, deps);
	const { namespace } = job.pod;
	// A list that was requested for other pods is used in the first try only. If the list is stale, the round finds out.
	const findKnown = () => (isFirst ? lists.findKnown({ namespace, labels: job.seen.labels }) : undefined);
	const known = findKnown();
	if (known) return tryUnder(known, job, ends, deps, covered);
	// The caller decides whether the run was stopped or timed out.
	if (!(await judging.take(ends))) return { kind: "again", afterMs: 0 };
	const startedAt = runtime.now();
	const read = podReader(job);
	let coverage: PodCoverage | undefined;
	try {
		const { memberIds } = currentBudgets;
		const budgets = findKnown();
		coverage = budgets
			? { kind: "covered", budgets }
			: await unlessOver(coverPod(job, { lists, memberIds, read, runtime, mayBeginRound: isFirst }), ends);
	} finally {
		judging.release();
	}
	if (!coverage) return unansweredInTime(runtime.now() - startedAt);
	reachability.answered();
	switch (coverage.kind) {
		case "gone":
			return { kind: "gone" };
		case "uncovered":
			return sendFreely(job, coverage, deps);
		case "covered":
			return tryUnder(coverage.budgets, job, ends, deps, covered);
		case "unreadable":
			return failedPod(job, { reason: "InvalidBudget", message: coverage.message });
		case "fleetsDiffer":
			return { kind: "again", afterMs: 0, reason: "FleetsDiffer", message: coverage.message };
		case "tooSlow":
			return waitAndAsk(job, { reason: "PeerUnreachable", message: coverage.message }, deps);
	}
}

/** `budgets` are all budgets that cover the pod. */
async function tryUnder(
	budgets: readonly RoundBudget[],
	job: EvictionJob,
	ends: AbortSignal,
	deps: EvictionRun,
	{ fleet, lists, suspensions, dryRun, queue, currentBudgets }: CoveredRun,
): Promise<EvictionStep> {
	if (budgets.length > mostBudgetsOfAPod) {
		const message =
			`${budgets.length} budgets cover the pod, more than the ${mostBudgetsOfAPod} that one decision can take: ` +
			`see kubectl xpdb budgets -n ${job.pod.namespace}`;
		return failedPod(job, { reason: "InvalidBudget", message });
	}
	suspensions.tell(budgets, lists.lastListed(job.pod.namespace));
	if (dryRun) return dryRun.judgeDryRun(job, budgets);
	const { places, holder, emit, evictor, stop } = deps;
	const member = fleet.memberOf(job.context.name);
	if (!member) throw new Error(`context ${job.context.name} has a covered pod but is not a member of the fleet`);
	const tell = (wait: GrantWait, nextMs: number): void => emit(waitingEvent(job, waitOf(job, wait, holder), nextMs));
	const candidate = { clusterId: member.id, pod: job.pod };
	const request: GrantRequest = { candidate, budgets, lane: job.context.name, signal: ends, onWait: tell };
	const answer = await queue.ask(request);
	const over = (): EvictionStep => {
		return { kind: "over", ...(request.last && { last: waitOf(job, request.last, holder) }) };
	};
	/**
	 * Resolves at the pod's turn, after the hold of its node is confirmed, or if the node is lost or `ends` aborts. Call mayBeSent() directly
	 * afterwards, because a pause, a stop or the timeout may have come meanwhile.
	 */
	const itsTurn = async (place: Place): Promise<void> => {
		if (await place.turn(ends)) await job.hold?.confirm(ends);
	};
	switch (answer?.kind) {
		case undefined:
			return over();
		case "waiting":
			return { kind: "again", afterMs: 0 };
		case "refused": {
			const { reason, message } = answer;
			return reason === "FleetsDiffer" ? { kind: "again", afterMs: 0, reason, message } : failedPod(job, answer);
		}
		case "free":
			try {
				if (answer.why === "Gone") return { kind: "gone" };
				await itsTurn(answer.place);
				if (mayBeSent(job, places, stop)) return await evictFree(job, deps);
				return ends.aborted ? { kind: "over" } : { kind: "again", afterMs: 0 };
			} finally {
				answer.place.end();
			}
		case "granted": {
			const { grant } = answer;
			await itsTurn(grant);
			if (!mayBeSent(job, places, stop)) {
				const back = grant.giveBack();
				if (ends.aborted) return over();
				await back;
				// The pod requests a new grant when the run continues.
				return { kind: "again", afterMs: 0 };
			}
			try {
				const names = budgets.map(({ name }) => formatBudgetName(name));
				return await evictGranted(job, grant, evictor(job, names), { ...deps, currentBudgets });
			} finally {
				grant.end();
			}
		}
	}
}

/** Runs one try. After a temporary failure, the pod is tried again. A refusal fails the pod. Any other error is thrown. */
async function orAfterFailure(
	job: EvictionJob,
	{ reachability }: EvictionRun,
	attempt: () => Promise<EvictionStep>,
): Promise<EvictionStep> {
	try {
		return await attempt();
	} catch (error) {
		const failure = classifyFailure(error);
		if (!failure) throw error;
		if (error instanceof AgentUnavailableError) reachability.failed(error);
		return stepAfter(job, failure);
	}
}

/** Called if a stop or a timeout came before the pod's budgets were known. `askedMs` is how long the pod waited for the members' lists. */
function unansweredInTime(askedMs: number): TryAgain {
	if (askedMs <= coverageFreshForMs) return { kind: "again", afterMs: 0 };
	const message = `some clusters of the fleet had not listed their budgets after ${(askedMs / 1000).toFixed(1)} s`;
	return { kind: "again", afterMs: 0, reason: "PeerUnreachable", message };
}

function waitForFleet(job: EvictionJob, message: string, deps: EvictionRun): TryAgain {
	return waitAndAsk(job, { reason: "FleetsDiffer", message }, deps);
}

function waitAndAsk(
	job: EvictionJob,
	wait: Pick<Wait, "reason" | "message">,
	{ options, emit }: EvictionRun,
): TryAgain {
	emit(options.dryRun ? pretendedWaitEvent(job, wait) : waitingEvent(job, wait, askAgainAfterMs));
	// Nothing was sent, so an eviction that was reported before and held up is not reported again.
	return { kind: "again", afterMs: askAgainAfterMs, isSameTry: job.isTold, ...wait };
}

function dryRunFailed(job: EvictionJob, { reason, message }: TryAgain): PodOutcome {
	const why = { reason: reason ?? "TimedOut", message: message ?? "no answer that could be used" };
	return { ...wouldWait(job, why), unreachable: reason === "PeerUnreachable" };
}
