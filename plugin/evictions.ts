// What drain and evict share: pods come in one by one, budgets are looked up for each of them anew before every try, and
// those that the same budgets cover go through rounds together.
import { AgentForbiddenError, AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import { formatBudgetName } from "../disruption/budget.ts";
import type { RoundBudget } from "../disruption/decide.ts";
import { BudgetGroup, type GroupDependencies } from "./budget-group.ts";
import { type Coverage, CoverageLists } from "./coverage-lists.ts";
import { type EvictionJob, evictionError, type JobOutcome, podEvent, type TryOutcome } from "./eviction-job.ts";
import { EvictionSlots } from "./eviction-slots.ts";
import type { Fleet } from "./fleet.ts";
import { tryEviction } from "./native-eviction.ts";
import { waitUntilGone } from "./pod-termination.ts";
import type { Reason } from "./reason.ts";

export interface EvictionsDependencies extends Omit<GroupDependencies, "members" | "memberOf" | "slots"> {
	readonly fleet: Pick<Fleet, "members" | "memberOf" | "listBudgets"> | undefined;
	/** False: an accepted eviction is enough. */
	readonly waitsUntilGone: boolean;
	readonly skipWaitAfterSeconds: number;
	readonly wallClock: () => number;
}

/** After an agent without an answer. */
const askAgainAfterMs = 1_000;

export interface EvictionCounts {
	readonly total: number;
	readonly done: number;
	readonly waiting: number;
	readonly terminating: number;
	/** The longest that one of those may take. */
	readonly graceSeconds: number;
}

export class Evictions {
	readonly #deps: EvictionsDependencies;
	readonly #coverage: CoverageLists | undefined;
	/** By the names of their budgets. */
	readonly #groups = new Map<string, BudgetGroup>();
	readonly #slots = new EvictionSlots();
	readonly #coveredBy = new Map<string, RoundBudget>();
	#total = 0;
	#done = 0;
	readonly #terminating = new Set<EvictionJob>();

	constructor(deps: EvictionsDependencies) {
		this.#deps = deps;
		this.#coverage = deps.fleet && new CoverageLists(deps.fleet, deps.runtime);
	}

	get counts(): EvictionCounts {
		return {
			total: this.#total,
			done: this.#done,
			waiting: [...this.#groups.values()].reduce((sum, group) => sum + group.waiting, 0),
			terminating: this.#terminating.size,
			graceSeconds: Math.max(0, ...[...this.#terminating].map((job) => job.graceSeconds)),
		};
	}

	/** The budgets under which pods were evicted so far. */
	get budgets(): readonly RoundBudget[] {
		return [...this.#coveredBy.values()];
	}

	/** Resolves when the pod is gone (or its eviction accepted, see waitsUntilGone), stopped or failed. */
	async evict(job: EvictionJob): Promise<JobOutcome> {
		this.#total += 1;
		const startedAt = this.#deps.runtime.now();
		const tried = await this.#untilAccepted(job);
		const waitedMs = this.#deps.runtime.now() - startedAt;
		const outcome = tried.kind === "accepted" ? await this.#finish(job, startedAt, waitedMs) : tried;
		if (outcome.kind !== "stopped") this.#done += 1;
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

	/** Resolves when nothing is under way any more: reservations that were not used have been given back. */
	async settled(): Promise<void> {
		await Promise.all([...this.#groups.values()].map((group) => group.settled()));
	}

	async #untilAccepted(job: EvictionJob): Promise<JobOutcome | { readonly kind: "accepted" }> {
		const { stop, runtime } = this.#deps;
		const ends = AbortSignal.any([stop, job.timeout.signal]);
		let reason: Reason | undefined;
		for (let isFirst = true; ; isFirst = false) {
			if (stop.aborted) return { kind: "stopped" };
			const outcome: TryOutcome = job.timeout.signal.aborted ? { kind: "timedOut" } : await this.#try(job, isFirst);
			switch (outcome.kind) {
				case "accepted":
				case "gone":
				case "stopped":
				case "failed":
					return outcome;
				case "timedOut":
					return this.#timedOut(job, { reason, ...outcome });
				case "again":
					reason = outcome.reason ?? reason;
					if (outcome.afterMs > 0) await runtime.sleep(outcome.afterMs, ends);
			}
		}
	}

	async #try(job: EvictionJob, isFirst: boolean): Promise<TryOutcome> {
		const { options, emit, reachability, fleet } = this.#deps;
		// A dry run takes no lease and makes no reservation; a cluster without agents is none of the fleet's business.
		if (!this.#coverage || !fleet?.memberOf(job.context.name) || options.dryRun) return tryEviction(job, options, emit);
		const pod = { namespace: job.pod.namespace, labels: job.labels };
		// What was listed for others is good for one try: if it does not hold any more, the round says so.
		const known = isFirst ? this.#coverage.findKnown(pod) : undefined;
		if (known) return this.#group(known.budgets, fleet).tryEviction(job);
		let coverage: Coverage;
		try {
			coverage = await this.#coverage.coverageOf(pod);
		} catch (error) {
			if (error instanceof AgentUnavailableError) {
				reachability.failed(error);
				return { kind: "again", afterMs: askAgainAfterMs, reason: "PeerUnreachable" };
			}
			if (error instanceof AgentForbiddenError || error instanceof AgentProtocolError) {
				return {
					kind: "failed",
					message: evictionError(job, error.message),
					reason: "AgentRefused",
					unreachable: false,
				};
			}
			throw error;
		}
		reachability.answered();
		switch (coverage.kind) {
			case "none":
				return tryEviction(job, options, emit);
			case "unreadable":
				return {
					kind: "failed",
					message: evictionError(job, coverage.message),
					reason: "InvalidBudget",
					unreachable: false,
				};
			case "covered":
				return this.#group(coverage.budgets, fleet).tryEviction(job);
		}
	}

	#group(budgets: readonly RoundBudget[], fleet: Pick<Fleet, "members" | "memberOf">): BudgetGroup {
		// The selector belongs to the key: after it was changed, rounds count by the new one.
		const key = JSON.stringify(budgets);
		const group =
			this.#groups.get(key) ??
			new BudgetGroup(budgets, {
				...this.#deps,
				slots: this.#slots,
				members: fleet.members,
				memberOf: (contextName) => fleet.memberOf(contextName),
			});
		this.#groups.set(key, group);
		for (const budget of budgets) this.#coveredBy.set(formatBudgetName(budget.name), budget);
		return group;
	}

	async #finish(job: EvictionJob, startedAt: number, waitedMs: number): Promise<JobOutcome> {
		const { emit, options, runtime } = this.#deps;
		emit({ type: "pod.accepted", ...podEvent(job), waitedMs });
		if (options.dryRun) return { kind: "evicted" };
		if (!this.#deps.waitsUntilGone) return { kind: "evicted" };
		this.#terminating.add(job);
		const ended = await waitUntilGone(job, {
			skipAfterSeconds: this.#deps.skipWaitAfterSeconds,
			sleep: (ms, signal) => runtime.sleep(ms, signal),
			wallClock: this.#deps.wallClock,
			emit,
		});
		this.#terminating.delete(job);
		if (ended.kind === "failed") return { ...ended, unreachable: false };
		if (ended.kind === "gone") {
			emit({ type: "pod.evicted", ...podEvent(job), deletes: options.deletes, elapsedMs: runtime.now() - startedAt });
		}
		return { kind: "evicted" };
	}

	#timedOut(
		job: EvictionJob,
		{ waitedFor, reason }: { readonly waitedFor?: string; readonly reason: Reason | undefined },
	): JobOutcome {
		const { lost } = this.#deps.reachability;
		return {
			kind: "failed",
			message: evictionError(job, `global timeout reached: ${job.timeout.text}`),
			reason: lost.length > 0 ? "PeerUnreachable" : (reason ?? "TimedOut"),
			unreachable: lost.length > 0,
			...(waitedFor !== undefined && { waitedFor }),
		};
	}
}
