// Taking this cluster's Leases and giving them back: in line, by whoever keeps it, and with the count that belongs to it.
//
// Guarantee: an acquisition is written with the Lease's resourceVersion before its count is taken, or it says from which Lease
// it was counted, for its commit to compare. Whoever does not get the answer to one that was written does not keep the Lease:
// it is given back where the count fails, the caller is gone, or the agent ends. Order among those who wait is about fairness
// only: see waiting-line.ts and handovers.ts.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	Cluster,
} from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { leaseFingerprint } from "../../disruption/lease/held-under.ts";
import {
	acquired,
	acquisitionOf,
	handoverDurationMs,
	leaseDurationMs,
	leaseName,
	released,
	stands,
} from "../../disruption/lease/lease.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";
import type { Clock } from "../process/clock.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { PodView } from "../views/pod-view.ts";
import type { AcquisitionCounts } from "./acquisition-counts.ts";
import { Handovers } from "./handovers.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type Attempt, WaitingLine } from "./waiting-line.ts";
import { withoutEvident } from "./without-evident.ts";

interface AcquirerOptions {
	readonly leases: LeaseStore;
	readonly counts: Pick<AcquisitionCounts, "count" | "countSeen">;
	readonly pods: PodView;
	/** Left out: every hold is written. */
	readonly leaseView?: Pick<LeaseView, "live"> | undefined;
	readonly clock: Clock;
	/** Of the cluster, for people. */
	readonly cluster: string;
	/** The agent of this cluster that keeps the line; undefined where it is this one. */
	readonly lineHost?: ((onBehalfOf?: PassedOnCaller) => Cluster | undefined) | undefined;
	/** Told of every acquisition that has ended, or is about to. */
	readonly onEnded: (acquisition: Acquisition) => void;
	/** Told of what went wrong beside an answer. */
	readonly report: (problem: unknown) => void;
}

type Acquired = Extract<AcquireOutcome, { kind: "acquired" }>;

export class Acquirer {
	readonly #options: AcquirerOptions;
	readonly #line: WaitingLine;
	readonly #handovers: Handovers;
	/** Written, and not handed to their callers yet: a shutdown gives them back. By nonce. */
	readonly #unanswered = new Map<string, Acquisition>();
	#closing = false;

	constructor(options: AcquirerOptions) {
		this.#options = options;
		this.#line = new WaitingLine(options.clock);
		this.#handovers = new Handovers({
			clock: options.clock,
			giveBackUnused: (acquisition) => this.#giveBackUnused(acquisition),
			report: options.report,
		});
	}

	async acquire(request: AcquireRequest, options: AcquireOptions, caller?: PassedOnCaller): Promise<AcquireOutcome> {
		const host = this.#options.lineHost?.(caller);
		if (host) {
			try {
				return await host.acquire(request, options);
			} catch (error) {
				// Served here instead, past the line: a line that cannot be reached must not hold everyone up.
				if (!(error instanceof AgentUnavailableError) || options.signal.aborted) throw error;
				this.#options.report(error);
			}
		}
		return this.acquireHere(request, options);
	}

	/** Acquires without passing the call on: for callers that were passed on already. */
	async acquireHere(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		let waited = false;
		const outcome = await this.#line.acquire(
			leaseName(request.budget),
			async (handover) => {
				waited = handover;
				const unwritten = handover ? undefined : await this.#acquireUnwritten(request);
				return unwritten ?? this.#attempt(request);
			},
			options,
		);
		if (outcome.kind !== "acquired") return outcome;
		if (options.signal.aborted) {
			await this.#giveBack(outcome.acquisition);
			throw options.signal.reason;
		}
		if (!waited) return outcome;
		this.#handovers.begin(outcome.acquisition, options.answered ?? Promise.resolve());
		return { ...outcome, leaseDurationMs: Math.min(handoverDurationMs, outcome.leaseDurationMs) };
	}

	/** Gives the Lease back; nothing happens where the acquisition is lost already, or was never written. */
	async release(acquisition: Acquisition): Promise<void> {
		this.#forget(acquisition);
		if (acquisition.unwritten) return;
		await this.#options.leases.change(acquisition.budget, (found) =>
			stands(found, acquisition) ? { write: released(found), result: undefined } : { result: undefined },
		);
		this.ended(acquisition);
	}

	/** It was committed, lost or given back: whoever is next may try. */
	ended(acquisition: Acquisition): void {
		this.#forget(acquisition);
		this.leaseChanged(leaseName(acquisition.budget));
	}

	/** The Lease of that name changed: whoever waits for it may try. */
	leaseChanged(name: string): void {
		this.#line.wake(name);
	}

	/** How many wait for this budget's Lease here. */
	lineLength(budget: BudgetName): number {
		return this.#line.length(leaseName(budget));
	}

	/** No new acquisitions, and those that no caller has heard of yet are given back. */
	async close(): Promise<void> {
		this.#closing = true;
		await Promise.all([...this.#unanswered.values()].map((acquisition) => this.#giveBack(acquisition)));
	}

	/**
	 * Counts from a Lease that nobody holds, as this process knows it, and leaves it to the commit whether it was still that
	 * one: two writes become one, and a refusal costs none. Undefined where only a hold that is written will do.
	 */
	async #acquireUnwritten(request: AcquireRequest): Promise<Acquired | undefined> {
		const { leases, pods, counts, leaseView } = this.#options;
		if (request.mayBeUnwritten !== true || !leaseView?.live || !pods.synced || this.#closing) return undefined;
		const lease = leases.known(request.budget);
		if (!lease || lease.holder !== "") return undefined;
		const { budget, nonce, holder, selector } = request;
		const seen = { budget, leaseUid: lease.uid, leaseTransitions: lease.transitions + 1, nonce };
		const count = await counts.countSeen(seen, lease, request);
		if (!count) return undefined;
		const unwritten = { holder, lease: leaseFingerprint(lease), selector, healthy: count.healthy };
		return { kind: "acquired", acquisition: { ...seen, unwritten }, count, leaseDurationMs };
	}

	async #attempt(request: AcquireRequest): ReturnType<Attempt> {
		const { leases, pods, clock, counts } = this.#options;
		if (!pods.synced) throw this.#unavailable("has not finished its first list of pods");
		if (this.#closing) throw this.#unavailable("is shutting down");
		const { lease, result: got } = await leases.change(request.budget, (found) => {
			// A doubled call: the Lease is ours already.
			if (found.state.phase === "held" && found.state.nonce === request.nonce) return { result: true };
			if (!leases.isFree(found)) return { result: false };
			const { holder, nonce } = request;
			const by = { holder, nonce, durationMs: leaseDurationMs };
			// What a dead watch has shown may be from before etcd was restored, and the pod alive.
			const kept = pods.live ? withoutEvident(found, pods) : found;
			return { write: acquired(kept, by), result: true };
		});
		if (!got) {
			return {
				kind: "held",
				position: 1,
				holder: lease.holder,
				heldForMs: leases.heldForMs(lease),
				retryAfterMs: lease.durationMs - leases.silentForMs(lease) + 1,
			};
		}
		const acquisition = acquisitionOf(lease);
		const endsAt = clock.now() + lease.durationMs - leases.silentForMs(lease);
		this.#unanswered.set(acquisition.nonce, acquisition);
		try {
			// close() may have come and gone while the Lease was being written.
			if (this.#closing) throw this.#unavailable("is shutting down");
			const count = await counts.count(acquisition, Promise.resolve(lease), request);
			const leftMs = Math.max(endsAt - clock.now(), 1);
			return { kind: "acquired", acquisition, count, leaseDurationMs: leftMs };
		} catch (error) {
			await this.#giveBack(acquisition);
			throw error;
		} finally {
			this.#unanswered.delete(acquisition.nonce);
		}
	}

	/** Releases what its caller will not hear of; where that fails too, the lease time ends it. */
	async #giveBack(acquisition: Acquisition): Promise<void> {
		await this.release(acquisition).catch((problem: unknown) => this.#options.report(problem));
	}

	/** Nothing was heard of whoever was handed the Lease, by no agent of this cluster: so says the Lease itself. */
	async #giveBackUnused(acquisition: Acquisition): Promise<void> {
		const { result } = await this.#options.leases.change(acquisition.budget, (found) =>
			stands(found, acquisition) && found.state.renewals === 0
				? { write: released(found), result: true }
				: { result: false },
		);
		if (result) this.ended(acquisition);
	}

	#forget(acquisition: Acquisition): void {
		this.#handovers.end(acquisition);
		this.#unanswered.delete(acquisition.nonce);
		this.#options.onEnded(acquisition);
	}

	#unavailable(state: string): AgentUnavailableError {
		const { cluster } = this.#options;
		return new AgentUnavailableError(`The agent of cluster "${cluster}" ${state}`, cluster);
	}
}
