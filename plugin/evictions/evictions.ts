// Evicts the pods of a run, and waits until they are gone. Pods arrive one by one, and pods under the same budgets go through rounds
// together.
import { CoverageLists } from "../../disruption/round/coverage.ts";
import { formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import type { CurrentBudgets } from "../../disruption/round/eviction.ts";
import { GrantQueue } from "../../disruption/round/grant-queue.ts";
import type { GrantObserver, GrantPorts } from "../../disruption/round/grant-request.ts";
import { Places } from "../../disruption/round/places.ts";
import { Semaphore } from "../../disruption/round/semaphore.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { FleetChanges } from "../fleet/fleet-changes.ts";
import { DryRunRounds } from "./dry-run-rounds.ts";
import { evictPod } from "./evict-pod.ts";
import type { CoveredRun, EvictionRun } from "./eviction-run.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import type { PodOutcome } from "./pod-outcome.ts";
import { waitUntilGone } from "./pod-termination.ts";
import { ToldSuspensions } from "./told-suspensions.ts";

/** The current fleet. Its members may change from one call to the next. */
export type EvictionFleet = Pick<Fleet, "members" | "memberOf" | "listBudgets" | "listedAhead" | "reconnect">;

export interface EvictionsDependencies extends Omit<EvictionRun, "places" | "covered">, Pick<GrantPorts, "runRound"> {
	readonly fleet: EvictionFleet | undefined;
	readonly suspensions?: ToldSuspensions;
	/** Whether to wait until evicted pods are gone. If false, an accepted eviction is enough. */
	readonly waitsUntilGone: boolean;
	readonly skipWaitAfterSeconds: number;
}

/**
 * Limits how many pods look for their budgets at the same time. A thousand concurrent reads would delay the lists of budgets until they are
 * stale. Then all pods would be read again, without end.
 */
const judgedAtOnce = 32;

export interface EvictionCounts {
	readonly terminating: number;
	/** The longest grace period among the terminating pods. */
	readonly graceSeconds: number;
}

export class Evictions {
	readonly #deps: EvictionsDependencies;
	readonly #shared: EvictionRun;
	readonly #places = new Places();
	#pausedAt = 0;
	readonly #terminating = new Set<EvictionJob>();
	readonly #atFirstGrant = new Map<string, number>();

	constructor(deps: EvictionsDependencies) {
		this.#deps = deps;
		const { fleet } = deps;
		this.#shared = { ...deps, places: this.#places, covered: fleet && this.#coveredRun(fleet) };
	}

	get counts(): EvictionCounts {
		return {
			terminating: this.#terminating.size,
			graceSeconds: Math.max(0, ...[...this.#terminating].map((job) => job.graceSeconds)),
		};
	}

	/** The budgets under which grants have been requested so far. */
	get budgets(): readonly RoundBudget[] {
		return this.#shared.covered?.queue.budgets ?? [];
	}

	/**
	 * Returns how many pods of the budget (NAMESPACE/NAME) were healthy in the count behind this run's first grant under it. Undefined
	 * before that grant.
	 */
	healthyAtFirstGrant(budget: string): number | undefined {
		return this.#atFirstGrant.get(budget);
	}

	/**
	 * Evicts the pod, and resolves when it is gone or skipped, or its eviction has failed or was stopped. In a dry run, or if
	 * waitsUntilGone is false, an accepted eviction is enough.
	 */
	async evict(job: EvictionJob): Promise<PodOutcome> {
		const startedAt = this.#deps.runtime.now();
		const tried = await evictPod(job, this.#shared);
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

	/** Starts no new eviction until `resume()`. Evictions that are under way continue. */
	pause(): void {
		if (this.#places.isPaused) return;
		this.#pausedAt = this.#deps.runtime.now();
		this.#places.pause();
		this.#deps.emit({ type: "paused", accepted: this.#terminating.size });
	}

	resume(): void {
		if (!this.#places.isPaused) return;
		this.#places.resume();
		this.#deps.emit({ type: "resumed", pausedMs: this.#deps.runtime.now() - this.#pausedAt });
	}

	/** Resolves when no round runs any more, and every grant has been used or given back. */
	async settled(): Promise<void> {
		await this.#shared.covered?.queue.settled();
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

	#coveredRun(fleet: EvictionFleet): CoveredRun {
		const { emit, runtime, options } = this.#deps;
		const deps = this.#deps;
		const places = this.#places;
		const lists = new CoverageLists(fleet, runtime);
		const memberIds = (): readonly string[] => fleet.members.map(({ id }) => id);
		const currentBudgets: CurrentBudgets = { list: (namespace) => lists.list(namespace), memberIds };
		const suspensions = deps.suspensions ?? new ToldSuspensions(deps);
		const observed = { ...deps, emit: suspensions.sinkOf(fleet) };
		const observe = (): GrantObserver => observerOf(observed, this.#atFirstGrant);
		return {
			fleet,
			lists,
			currentBudgets,
			changes: new FleetChanges(fleet, emit, () => lists.forget()),
			suspensions,
			queue: new GrantQueue({ ...deps, members: () => fleet.members, places, observe }),
			dryRun: options.dryRun ? new DryRunRounds({ ...deps, fleet, places }) : undefined,
			contexts: new Set(),
			judging: new Semaphore(judgedAtOnce),
		};
	}
}

/** Returns an observer that reports the rounds under one set of budgets as events. */
function observerOf(
	{ emit, reachability }: Pick<EvictionsDependencies, "emit" | "reachability">,
	atFirstGrant: Map<string, number>,
): GrantObserver {
	const told = new Map<string, string>();
	const healthy = new Map<string, number>();
	return {
		answered: () => reachability.answered(),
		unreachable: (error) => reachability.failed(error),
		counted(states) {
			for (const { budget, ...state } of states) {
				const name = formatBudgetName(budget);
				const text = JSON.stringify(state);
				healthy.set(name, state.healthy);
				if (told.get(name) === text) continue;
				told.set(name, text);
				emit({ type: "budget.changed", budget: name, ...state });
			}
		},
		granted() {
			for (const [budget, count] of healthy) if (!atFirstGrant.has(budget)) atFirstGrant.set(budget, count);
			told.clear();
		},
		leaseAcquired: ({ budget, cluster, holder, leaseDurationMs, waitedMs }) =>
			emit({
				type: "lease.acquired",
				budget: formatBudgetName(budget),
				cluster,
				holder,
				ttlSeconds: leaseDurationMs / 1_000,
				waitedMs,
			}),
		leaseReleased: ({ budget, cluster, heldMs }) =>
			emit({ type: "lease.released", budget: formatBudgetName(budget), cluster, heldMs }),
		leaseLost: ({ budget, cluster, heldMs, message }) =>
			emit({ type: "lease.lost", budget: formatBudgetName(budget), cluster, heldMs, message }),
		queued: ({ budget, ...place }) => emit({ type: "lease.waiting", budget: formatBudgetName(budget), ...place }),
	};
}
