// Plays a member of the fleet. Its Leases follow disruption/lease/lease.ts, and the test sets its counts. It can fail before a call, or
// after it, so that only the answer is lost.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	Cluster,
	CommitOutcome,
	Count,
	Grant,
	LeftOut,
} from "../../disruption/budget/cluster.ts";
import { LeaseLostError } from "../../disruption/errors.ts";
import { heldUnder, leaseFingerprint } from "../../disruption/lease/held-under.ts";
import {
	acquired,
	acquisitionOf,
	type BudgetLease,
	committed,
	handoverDurationMs,
	isLatest,
	leaseDurationMs,
	leaseName,
	released,
	renewed,
	stands,
	withoutReservations,
} from "../../disruption/lease/lease.ts";
import { newCount } from "../support/build-count.ts";
import { newLease } from "../support/build-lease.ts";

type Method = "acquire" | "count" | "renew" | "commit" | "release" | "confirm" | "cancel";

/** Runs before or after a call. It may throw or wait. */
export type Fault = () => void | Promise<void>;

export class ScriptedCluster implements Cluster {
	readonly id: string;
	readonly name: string;
	/** Replaces the defaults of newCount(). Reservations do not change the counts. */
	counted: Partial<Count>;
	/** Pods that a commit does not reserve, by UID, with the reason. */
	readonly leavesOut = new Map<string, LeftOut["why"]>();
	/** Whether holds are not written if the caller accepts that. */
	leavesUnwritten = false;
	maxReservations = 1_500;
	readonly before: Partial<Record<Method, Fault>> = {};
	readonly after: Partial<Record<Method, Fault>> = {};
	readonly #calls: string[];
	readonly #leases = new Map<string, BudgetLease>();
	readonly #line: { readonly budget: BudgetName; readonly next: () => void }[] = [];

	/** `calls` records "ID METHOD" of every call. Clusters can share it. */
	constructor(id: string, calls: string[] = [], counted: Partial<Count> = {}) {
		this.id = id;
		this.name = `${id}-1`;
		this.#calls = calls;
		this.counted = counted;
	}

	lease(budget: BudgetName): BudgetLease {
		return this.#leases.get(formatBudgetName(budget)) ?? newLease({ budget, name: leaseName(budget) });
	}

	change(budget: BudgetName, step: (lease: BudgetLease) => BudgetLease): void {
		this.#leases.set(formatBudgetName(budget), step(this.lease(budget)));
		this.#handOver(budget);
	}

	/** Takes the Lease for another caller, even if it is held. */
	steal(budget: BudgetName, holder = "thief"): Acquisition {
		this.change(budget, (lease) =>
			acquired(lease, { holder, nonce: `nonce of ${holder}`, durationMs: leaseDurationMs }),
		);
		return acquisitionOf(this.lease(budget));
	}

	async acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		return this.#call("acquire", options.wait ? " in line" : "", async () => {
			const { budget, holder, nonce } = request;
			const isFree = () => this.lease(budget).holder === "";
			const place = () => ({ position: this.#line.length + 1, holder: this.lease(budget).holder, heldForMs: 0 });
			let durationMs = leaseDurationMs;
			while (!isFree()) {
				if (!options.wait) return { kind: "held", ...place() };
				options.onQueued?.(place());
				await this.#turn(budget, options.signal);
				durationMs = handoverDurationMs;
			}
			if (this.leavesUnwritten && request.mayBeUnwritten) return this.#unwritten(request);
			this.change(budget, (lease) => acquired(lease, { holder, nonce, durationMs }));
			const lease = this.lease(budget);
			return { kind: "acquired", acquisition: acquisitionOf(lease), count: this.#count(), leaseDurationMs: durationMs };
		});
	}

	async count(acquisition: Acquisition): Promise<Count> {
		return this.#call("count", "", () => {
			this.#standing(acquisition);
			return this.#count();
		});
	}

	async renew(acquisition: Acquisition): Promise<void> {
		return this.#call("renew", "", () => {
			this.#standing(acquisition);
			this.change(acquisition.budget, renewed);
		});
	}

	async commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome> {
		return this.#call("commit", grants.length > 0 ? ` ${grants.length}` : "", () => {
			const lease = this.lease(acquisition.budget);
			if (isLatest(lease, acquisition) && lease.state.phase === "committed") return { kind: "stood" };
			const held = heldUnder(lease, acquisition);
			if (!held) return { kind: "lost", reason: `held by "${lease.holder}"` };
			const reservations = lease.state.reservations.length;
			if (reservations + grants.length > this.maxReservations) return { kind: "full", reservations };
			const kept = grants.filter(({ pod }) => !this.leavesOut.has(pod.uid));
			this.change(acquisition.budget, () => committed(held, kept, 0));
			const leftOut = grants.flatMap(({ pod: { uid } }) => {
				const why = this.leavesOut.get(uid);
				return why ? [{ uid, why }] : [];
			});
			return { kind: "stood", ...(leftOut.length > 0 && { leftOut }) };
		});
	}

	async release(acquisition: Acquisition): Promise<void> {
		return this.#call("release", "", () => {
			if (stands(this.lease(acquisition.budget), acquisition)) this.change(acquisition.budget, released);
		});
	}

	async confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean> {
		return this.#call("confirm", "", () => {
			const { reservations } = this.lease(budget).state;
			return ids.every((id) => reservations.some((each) => each.id === id && !each.cancelling));
		});
	}

	async cancel(budget: BudgetName, ids: readonly string[], { sent }: { readonly sent: boolean }): Promise<void> {
		return this.#call("cancel", sent ? " sent" : "", () =>
			this.change(budget, (lease) => withoutReservations(lease, new Set(ids))),
		);
	}

	async #call<T>(method: Method, detail: string, carryOut: () => T | Promise<T>): Promise<T> {
		this.#calls.push(`${this.id} ${method}${detail}`);
		await this.before[method]?.();
		const answer = await carryOut();
		await this.after[method]?.();
		return answer;
	}

	#unwritten({ budget, holder, nonce, selector }: AcquireRequest): AcquireOutcome {
		const lease = this.lease(budget);
		const count = this.#count();
		const unwritten = { holder, lease: leaseFingerprint(lease), selector, healthy: count.healthy };
		const seen = { budget, leaseUid: lease.uid, leaseTransitions: lease.transitions + 1, nonce, unwritten };
		return { kind: "acquired", acquisition: seen, count, leaseDurationMs };
	}

	#standing(acquisition: Acquisition): void {
		const lease = this.lease(acquisition.budget);
		if (!stands(lease, acquisition)) throw new LeaseLostError(`Lease in cluster "${this.name}" was lost`);
	}

	#count(): Count {
		return newCount(this.id, this.counted);
	}

	async #turn(budget: BudgetName, signal: AbortSignal): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const entry = { budget, next: resolve };
		this.#line.push(entry);
		signal.addEventListener("abort", () => reject(signal.reason), { once: true });
		if (signal.aborted) reject(signal.reason);
		try {
			await promise;
		} finally {
			this.#line.splice(this.#line.indexOf(entry), 1);
		}
	}

	#handOver(budget: BudgetName): void {
		if (this.lease(budget).holder !== "") return;
		this.#line.find((entry) => formatBudgetName(entry.budget) === formatBudgetName(budget))?.next();
	}
}
