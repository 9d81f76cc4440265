// Acquires and releases this cluster's Leases. Callers wait in line, and each acquisition comes with its own count.
//
// Guarantee: an acquisition is written before its count is taken, by a write that names the Lease's resourceVersion. The exception is an
// optimistic hold: its answer names the Lease that was counted from, and its commit compares that Lease. A written acquisition is released
// if its count fails, or if the caller goes away or the agent stops before it is answered. If the answer is lost on its way, the Lease
// expires. The order of waiting callers is only about fairness (waiting-line.ts, handovers.ts).
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
import { dropSettledReservations } from "./drop-settled-reservations.ts";

interface AcquirerOptions {
	readonly leases: LeaseStore;
	readonly counts: Pick<AcquisitionCounts, "count" | "countSeen">;
	readonly pods: PodView;
	/** If left out, every hold is written. */
	readonly leaseView?: Pick<LeaseView, "live"> | undefined;
	readonly clock: Clock;
	/** The cluster's name, for messages. */
	readonly cluster: string;
	/** Returns the agent of this cluster that keeps the line. Undefined if it is this agent, or if the other one cannot be reached now. */
	readonly lineHost?: ((onBehalfOf?: PassedOnCaller) => Cluster | undefined) | undefined;
	/** Called for every acquisition that has ended or is about to end. */
	readonly onEnded: (acquisition: Acquisition) => void;
	/** Called with errors that do not reach a caller. */
	readonly report: (problem: unknown) => void;
}

type Acquired = Extract<AcquireOutcome, { kind: "acquired" }>;

export class Acquirer {
	readonly #options: AcquirerOptions;
	readonly #line: WaitingLine;
	readonly #handovers: Handovers;
	/** By nonce: written acquisitions whose counts are under way. A shutdown releases them. */
	readonly #unanswered = new Map<string, Acquisition>();
	#closing = false;

	constructor(options: AcquirerOptions) {
		this.#options = options;
		this.#line = new WaitingLine(options.clock);
		this.#handovers = new Handovers({
			clock: options.clock,
			releaseUnused: (acquisition) => this.#releaseUnused(acquisition),
			report: options.report,
		});
	}

	async acquire(request: AcquireRequest, options: AcquireOptions, caller?: PassedOnCaller): Promise<AcquireOutcome> {
		const host = this.#options.lineHost?.(caller);
		if (host) {
			try {
				return await host.acquire(request, options);
			} catch (error) {
				// Acquire here instead, past the line: a line that cannot be reached must not block every caller.
				if (!(error instanceof AgentUnavailableError) || options.signal.aborted) throw error;
				this.#options.report(error);
			}
		}
		return this.acquireHere(request, options);
	}

	/** Does not forward the call to the agent that keeps the line. */
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
			await this.#releaseUnheard(outcome.acquisition);
			throw options.signal.reason;
		}
		if (!waited) return outcome;
		this.#handovers.begin(outcome.acquisition, options.answered ?? Promise.resolve());
		return { ...outcome, leaseDurationMs: Math.min(handoverDurationMs, outcome.leaseDurationMs) };
	}

	/** Does nothing if the acquisition is already lost or was never written. */
	async release(acquisition: Acquisition): Promise<void> {
		this.#forget(acquisition);
		if (acquisition.unwritten) return;
		await this.#options.leases.changeExisting(acquisition.budget, (found) =>
			stands(found, acquisition) ? { write: released(found), result: undefined } : { result: undefined },
		);
		this.ended(acquisition);
	}

	/** Forgets an acquisition that was committed, lost or released, and lets the next caller in line try. */
	ended(acquisition: Acquisition): void {
		this.#forget(acquisition);
		this.leaseChanged(leaseName(acquisition.budget));
	}

	/** Lets the next waiting caller try, because the Lease of that name changed. */
	leaseChanged(name: string): void {
		this.#line.wake(name);
	}

	lineLength(budget: BudgetName): number {
		return this.#line.length(leaseName(budget));
	}

	/** Refuses new acquisitions, and releases those whose counts are under way. */
	async close(): Promise<void> {
		this.#closing = true;
		await Promise.all([...this.#unanswered.values()].map((acquisition) => this.#releaseUnheard(acquisition)));
	}

	/**
	 * Counts from a Lease without a holder, as this process knows it. The commit then checks that the Lease is still the same. This saves one
	 * of two writes, and a round that grants nothing writes nothing. Undefined if no optimistic hold is possible.
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
			// A duplicate of this call has already acquired the Lease.
			if (found.state.phase === "held" && found.state.nonce === request.nonce) return { result: true };
			if (!leases.isFree(found)) return { result: false };
			const { holder, nonce } = request;
			const by = { holder, nonce, durationMs: leaseDurationMs };
			return { write: acquired(dropSettledReservations(found, pods), by), result: true };
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
			// close() may have run while the Lease was being written.
			if (this.#closing) throw this.#unavailable("is shutting down");
			const count = await counts.count(acquisition, Promise.resolve(lease), request);
			const leftMs = Math.max(endsAt - clock.now(), 1);
			return { kind: "acquired", acquisition, count, leaseDurationMs: leftMs };
		} catch (error) {
			await this.#releaseUnheard(acquisition);
			throw error;
		} finally {
			this.#unanswered.delete(acquisition.nonce);
		}
	}

	/** Releases an acquisition that its caller will not receive. If the release fails, the Lease expires. */
	async #releaseUnheard(acquisition: Acquisition): Promise<void> {
		await this.release(acquisition).catch((problem: unknown) => this.#options.report(problem));
	}

	/** Releases the Lease if the caller that was handed it has not renewed it through any agent: it still has 0 renewals. */
	async #releaseUnused(acquisition: Acquisition): Promise<void> {
		const { result } = await this.#options.leases.changeExisting(acquisition.budget, (found) =>
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
		return new AgentUnavailableError(`the agent of cluster "${cluster}" ${state}`, cluster);
	}
}
