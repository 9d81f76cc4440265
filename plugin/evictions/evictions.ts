// What drain and evict share: pods come in one by one, what covers each of them is judged anew before every try, and those
// that the same budgets cover go through rounds together.
//
// Guarantee: a pod of a fleet's cluster is evicted under a grant of all budgets that cover it. Without one it goes only where
// disruption/coverage-judgement.ts says so of the version that the eviction names, at that moment, or where that version has
// finished, terminates or has not started; never while members disagree who the fleet is. Tries that come to nothing are
// further and further apart.
// Assumptions: those of coverage-judgement.ts, round.ts and eviction.ts; pods of contexts without agents are not ours.
import { formatBudgetName } from "../../disruption/budget.ts";
import type { RoundBudget } from "../../disruption/decide.ts";
import { AgentUnavailableError, FleetsDifferError, isAgentRefusal } from "../../disruption/errors.ts";
import type { CurrentBudgets } from "../../disruption/eviction.ts";
import { type Reason, refusalReason } from "../events/reason.ts";
import { usedByNames, usedBySuffix, waitText } from "../events/used-by-text.ts";
import { CoverageLists } from "../fleet/coverage-lists.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { FleetChanges, type FleetDoubt } from "../fleet/fleet-changes.ts";
import { Semaphore } from "../fleet/semaphore.ts";
import { ApiError, errorText, isPassing } from "../kubernetes/api-error.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import { DryRunRounds, wouldWait } from "./dry-run-rounds.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import { EvictionRounds, type RoundsDependencies } from "./eviction-rounds.ts";
import { type NativeDependencies, tryEviction, tryFreeEviction } from "./native-eviction.ts";
import { coverPod, type PodCoverage, unansweredInTime } from "./pod-coverage.ts";
import { failedPod, type PodOutcome } from "./pod-outcome.ts";
import { waitUntilGone } from "./pod-termination.ts";
import { ToldSuspensions } from "./told-suspensions.ts";
import { retryAfterMs, type TryAgain, type TryOutcome } from "./try-outcome.ts";
import { unlessOver } from "../kubernetes/unless-over.ts";
import { pretendedWaitEvent, waitingEvent } from "./waiting-event.ts";

export type EvictionFleet = Pick<Fleet, "members" | "memberOf" | "listBudgets" | "listedAhead" | "reconnect">;

export interface EvictionsDependencies extends Omit<RoundsDependencies, "fleet" | "limit" | "currentBudgets"> {
	readonly fleet: EvictionFleet | undefined;
	/** False: an accepted eviction is enough. */
	readonly waitsUntilGone: boolean;
	readonly skipWaitAfterSeconds: number;
	readonly wallClock: () => number;
}

/** After an agent without an answer, and while members disagree. */
const askAgainAfterMs = 1_000;
/** A try that came to nothing is made again at once, once: what it rested on had changed. The next ones wait. */
const pauses = [0, 250, 500, 1_000, 2_000, 5_000];
/** Who waited for so long is not in a loop. */
const longTryMs = 10_000;
/**
 * Pods of which it is found out at the same time what covers them. A thousand reads at once keep the lists of budgets waiting until
 * these are too old to say anything, and then all pods are read again: such a drain never begins.
 */
const judgedAtOnce = 32;
/** Each budget takes a Lease in every cluster: a member that claims thousands of budgets would hold up a run for minutes. */
const mostBudgetsOfAPod = 64;
/** A dry run ends no pod, so that nothing changes by waiting: an agent that is being restarted, or has yet to see a pod. */
const dryRunTries = 3;

/** Some of what a run knows of its fleet. */
interface FleetState {
	readonly fleet: EvictionFleet;
	readonly lists: CoverageLists;
	readonly currentBudgets: CurrentBudgets;
	readonly changes: FleetChanges;
	readonly suspensions: ToldSuspensions;
	/** In the place of rounds, for a dry run. */
	readonly dryRun: DryRunRounds | undefined;
	/** Contexts whose clusters were members once. */
	readonly contexts: Set<string>;
}

export interface EvictionCounts {
	readonly terminating: number;
	/** The longest that one of those may take. */
	readonly graceSeconds: number;
}

export class Evictions {
	readonly #deps: EvictionsDependencies;
	readonly #native: NativeDependencies;
	readonly #state: FleetState | undefined;
	/** By their budgets. */
	readonly #rounds = new Map<string, EvictionRounds>();
	readonly #limit = new ConcurrencyLimit();
	readonly #judging = new Semaphore(judgedAtOnce);
	readonly #coveredBy = new Map<string, RoundBudget>();
	#pausedAt = 0;
	readonly #terminating = new Set<EvictionJob>();

	constructor(deps: EvictionsDependencies) {
		this.#deps = deps;
		this.#native = { ...deps, limit: this.#limit };
		const { fleet } = deps;
		if (!fleet) return;
		const lists = new CoverageLists(fleet, deps.runtime);
		const changes = new FleetChanges(fleet, deps.emit, () => lists.forget());
		const dryRun = deps.options.dryRun ? new DryRunRounds({ ...deps, fleet, limit: this.#limit }) : undefined;
		const memberIds = (): readonly string[] => fleet.members.map(({ id }) => id);
		const currentBudgets: CurrentBudgets = { list: (namespace) => lists.list(namespace), memberIds };
		const suspensions = new ToldSuspensions(deps, fleet);
		this.#state = { fleet, lists, currentBudgets, changes, suspensions, dryRun, contexts: new Set() };
	}

	get counts(): EvictionCounts {
		return {
			terminating: this.#terminating.size,
			graceSeconds: Math.max(0, ...[...this.#terminating].map((job) => job.graceSeconds)),
		};
	}

	/** The budgets under which pods were evicted so far. */
	get budgets(): readonly RoundBudget[] {
		return [...this.#coveredBy.values()];
	}

	/** Resolves when the pod is gone (or its eviction accepted, see waitsUntilGone), stopped or failed. */
	async evict(job: EvictionJob): Promise<PodOutcome> {
		const startedAt = this.#deps.runtime.now();
		const tried = await this.#untilAccepted(job);
		const waitedMs = this.#deps.runtime.now() - startedAt;
		const outcome = tried.kind === "accepted" ? await this.#finish(job, startedAt, waitedMs) : tried;
		if (outcome.kind === "failed") {
			this.#deps.emit({
				type: "pod.failed",
				...podEvent(job),
				message: outcome.message,
				reason: outcome.reason,
				waitedMs,
				deletes: this.#deps.options.deletes,
				accepted: tried.kind === "accepted",
			});
		} else if (outcome.kind !== "evicted") {
			this.#deps.emit({ type: `pod.${outcome.kind}`, ...podEvent(job), waitedMs });
		}
		return outcome;
	}

	/** No new evictions until `resume()`; those that were sent already go on. */
	pause(): void {
		if (this.#limit.isPaused) return;
		this.#pausedAt = this.#deps.runtime.now();
		this.#limit.pause();
		this.#deps.emit({ type: "paused", accepted: this.#terminating.size });
	}

	resume(): void {
		if (!this.#limit.isPaused) return;
		this.#limit.resume();
		this.#deps.emit({ type: "resumed", pausedMs: this.#deps.runtime.now() - this.#pausedAt });
	}

	/** Resolves when nothing is under way any more: reservations that were not used have been given back. */
	async settled(): Promise<void> {
		await Promise.all([...this.#rounds.values()].map((rounds) => rounds.settled()));
	}

	async #untilAccepted(job: EvictionJob): Promise<PodOutcome | { readonly kind: "accepted" }> {
		const { stop, runtime } = this.#deps;
		const ends = AbortSignal.any([stop, job.timeout.signal]);
		let reason: Reason | undefined;
		/** What the last try waited for, where it got no answer in time. */
		let unanswered: string | undefined;
		let inVain = 0;
		let tries = 0;
		for (let isFirst = true; ; isFirst = false) {
			if (this.#limit.isPaused) await this.#limit.resumed(ends);
			if (stop.aborted) return { kind: "stopped" };
			const startedAt = runtime.now();
			const outcome: TryOutcome = job.timeout.signal.aborted
				? {
						kind: "timedOut",
						...(unanswered !== undefined && { unreachable: true, waitedFor: { message: unanswered } }),
					}
				: await this.#try(job, isFirst);
			switch (outcome.kind) {
				case "accepted":
				case "gone":
				case "stopped":
				case "failed":
					return outcome;
				case "agentRefused":
					return failedPod(job, { reason: "AgentRefused", message: outcome.message });
				case "timedOut":
					return job.hold?.lost.aborted ? { kind: "stopped" } : this.#timedOut(job, { reason, ...outcome });
				case "again": {
					tries += 1;
					job.isTold = outcome.isSameTry ?? false;
					if (this.#deps.options.dryRun && tries >= dryRunTries) return this.#dryRunFailed(job, outcome);
					reason = outcome.reason ?? reason;
					const silence = outcome.reason === "PeerUnreachable" ? outcome.message : undefined;
					// A try that was cut short does not prove that members answer again.
					unanswered = ends.aborted ? (unanswered ?? silence) : silence;
					if (runtime.now() - startedAt >= longTryMs) inVain = 0;
					const pauseMs = outcome.afterMs > 0 ? outcome.afterMs : (pauses[Math.min(inVain++, pauses.length - 1)] ?? 0);
					if (pauseMs > 0) await runtime.sleep(pauseMs, ends);
				}
			}
		}
	}

	async #try(job: EvictionJob, isFirst: boolean): Promise<TryOutcome> {
		const state = this.#state;
		const context = job.context.name;
		// A cluster without agents is none of the fleet's business.
		if (!state) return tryEviction(job, {}, this.#native);
		const { fleet, contexts, changes } = state;
		const asked = fleet.members;
		if (fleet.memberOf(context)) contexts.add(context);
		else if (!contexts.has(context)) return tryEviction(job, {}, this.#native);
		else {
			const answer = await unlessOver(changes.ask(asked), AbortSignal.any([this.#deps.stop, job.timeout.signal]));
			if (!answer) return { kind: "again", afterMs: 0 };
			return answer.kind === "same" || answer.kind === "changed"
				? this.#waitForFleet(job, `the cluster of context ${context} is no member of the fleet any more`)
				: this.#withoutFleet(job, answer);
		}
		const outcome = await this.#tryAsMember(job, isFirst, state);
		const differs = outcome.kind === "again" && outcome.reason === "FleetsDiffer";
		if (!differs && outcome.kind !== "agentRefused") return outcome;
		// Who refused may be one that is no member any more.
		const answer = await unlessOver(changes.ask(asked), AbortSignal.any([this.#deps.stop, job.timeout.signal]));
		if (!answer || answer.kind === "changed") return { kind: "again", afterMs: 0 };
		if (answer.kind !== "same") return this.#withoutFleet(job, answer);
		if (outcome.kind === "agentRefused") return outcome;
		// They say that they agree, and answer otherwise.
		return this.#waitForFleet(job, outcome.message ?? "the members of the fleet disagree");
	}

	async #tryAsMember(job: EvictionJob, isFirst: boolean, state: FleetState): Promise<TryOutcome> {
		const { lists, currentBudgets } = state;
		const { reachability, runtime, stop } = this.#deps;
		if (job.seen.hasNotStarted) return tryFreeEviction(job, this.#native);
		const { namespace } = job.pod;
		// What was listed for others is good for one try: if it does not hold any more, the round says so.
		const findKnown = () => (isFirst ? lists.findKnown({ namespace, labels: job.seen.labels }) : undefined);
		const known = findKnown();
		if (known) return this.#tryUnder(known, job, state);
		const ends = AbortSignal.any([stop, job.timeout.signal]);
		// What became of the run is judged by who called.
		if (!(await this.#judging.take(ends))) return { kind: "again", afterMs: 0 };
		const startedAt = runtime.now();
		let coverage: PodCoverage | undefined;
		try {
			const { memberIds } = currentBudgets;
			const budgets = findKnown();
			coverage = budgets
				? { kind: "covered", budgets }
				: await unlessOver(coverPod(job, { lists, memberIds, runtime, mayBeginRound: isFirst }), ends);
		} catch (error) {
			if (error instanceof AgentUnavailableError) {
				reachability.failed(error);
				return { kind: "again", afterMs: askAgainAfterMs, reason: "PeerUnreachable", message: error.message };
			}
			// The fleet is asked anew, and says who is missing.
			if (error instanceof FleetsDifferError) return { kind: "again", afterMs: 0, reason: error.reason };
			if (isAgentRefusal(error)) {
				return { kind: "agentRefused", message: error.message };
			}
			// The pod could not be read.
			if (isPassing(error)) return { kind: "again", afterMs: retryAfterMs, reason: "ServerUnreachable" };
			if (error instanceof ApiError) return failedPod(job, { reason: refusalReason(error), message: errorText(error) });
			throw error;
		} finally {
			this.#judging.giveBack();
		}
		if (!coverage) return unansweredInTime(runtime.now() - startedAt);
		reachability.answered();
		switch (coverage.kind) {
			case "gone":
				return { kind: "gone" };
			case "uncovered":
				return tryEviction(job, coverage, this.#native);
			case "unreadable":
				return failedPod(job, { reason: "InvalidBudget", message: coverage.message });
			case "covered":
				return this.#tryUnder(coverage.budgets, job, state);
			case "fleetsDiffer":
				return { kind: "again", afterMs: 0, reason: "FleetsDiffer", message: coverage.message };
			case "tooSlow":
				this.#tellWaiting(job, "PeerUnreachable", coverage.message);
				return { kind: "again", afterMs: askAgainAfterMs, reason: "PeerUnreachable", message: coverage.message };
		}
	}

	/** Its members cannot say who they are. */
	#withoutFleet(job: EvictionJob, answer: FleetDoubt): TryOutcome {
		switch (answer.kind) {
			case "refused":
				return { kind: "agentRefused", message: answer.message };
			case "unreachable":
				this.#deps.reachability.failed(answer.error);
				return {
					kind: "again",
					afterMs: askAgainAfterMs,
					reason: "PeerUnreachable",
					message: answer.error.message,
				};
			case "differ":
				return this.#waitForFleet(job, answer.message);
		}
	}

	/** Until somebody has put it right. */
	#waitForFleet(job: EvictionJob, message: string): TryOutcome {
		this.#tellWaiting(job, "FleetsDiffer", message);
		return { kind: "again", afterMs: askAgainAfterMs, reason: "FleetsDiffer", message };
	}

	#tellWaiting(job: EvictionJob, reason: Reason, message: string): void {
		const waiting = { reason, message };
		const { options, emit } = this.#deps;
		emit(options.dryRun ? pretendedWaitEvent(job, waiting) : waitingEvent(job, waiting, askAgainAfterMs));
	}

	#dryRunFailed(job: EvictionJob, { reason, message }: TryAgain): PodOutcome {
		const why = { reason: reason ?? "TimedOut", message: message ?? "no answer that could be used" };
		return { ...wouldWait(job, why), unreachable: reason === "PeerUnreachable" };
	}

	async #tryUnder(budgets: readonly RoundBudget[], job: EvictionJob, state: FleetState): Promise<TryOutcome> {
		if (budgets.length > mostBudgetsOfAPod) {
			const message =
				`${budgets.length} budgets cover the pod, more than the ${mostBudgetsOfAPod} that one decision can take: ` +
				`see kubectl xpdb budgets -n ${job.pod.namespace}`;
			return failedPod(job, { reason: "InvalidBudget", message });
		}
		state.suspensions.tell(budgets, state.lists.lastListed(job.pod.namespace));
		return state.dryRun?.tryEviction(job, budgets) ?? this.#roundsFor(budgets, state).tryEviction(job);
	}

	#roundsFor(budgets: readonly RoundBudget[], { fleet, currentBudgets, suspensions }: FleetState): EvictionRounds {
		// The selector belongs to the key: after it was changed, rounds count by the new one.
		const key = JSON.stringify(budgets);
		const deps = { ...this.#deps, limit: this.#limit, fleet, currentBudgets, emit: suspensions.emit };
		const rounds = this.#rounds.get(key) ?? new EvictionRounds(budgets, deps);
		this.#rounds.set(key, rounds);
		for (const budget of budgets) this.#coveredBy.set(formatBudgetName(budget.name), budget);
		return rounds;
	}

	async #finish(job: EvictionJob, startedAt: number, waitedMs: number): Promise<PodOutcome> {
		const { emit, options, runtime } = this.#deps;
		emit({ type: "pod.accepted", ...podEvent(job), waitedMs, graceSeconds: job.graceSeconds });
		if (options.dryRun || !this.#deps.waitsUntilGone) return { kind: "evicted" };
		this.#terminating.add(job);
		const outcome = await waitUntilGone(job, {
			skipAfterSeconds: this.#deps.skipWaitAfterSeconds,
			sleep: (ms, signal) => runtime.sleep(ms, signal),
			wallClock: this.#deps.wallClock,
			emit,
			onGone() {
				const elapsedMs = runtime.now() - startedAt;
				emit({ type: "pod.evicted", ...podEvent(job), deletes: options.deletes, elapsedMs });
			},
		});
		this.#terminating.delete(job);
		return outcome;
	}

	#timedOut(
		job: EvictionJob,
		end: Pick<Extract<TryOutcome, { kind: "timedOut" }>, "waitedFor" | "unreachable"> & {
			readonly reason: Reason | undefined;
		},
	): PodOutcome {
		const { reason } = end;
		const waitedFor = end.waitedFor && waitText(end.waitedFor, this.#deps.wallClock());
		const unreachable = end.unreachable === true || this.#deps.reachability.lost.length > 0;
		// A drain says it of the node, once. Many pods may have waited for the same, so there are no more than names.
		const why =
			end.waitedFor && job.node === undefined
				? `: ${end.waitedFor.message}${usedBySuffix(usedByNames(end.waitedFor.usedBy ?? []))}`
				: "";
		const message = `global timeout reached: ${job.timeout.text}${why}`;
		return {
			...failedPod(job, { reason: unreachable ? "PeerUnreachable" : (reason ?? "TimedOut"), message }),
			unreachable,
			...(waitedFor !== undefined && { waitedFor }),
		};
	}
}
