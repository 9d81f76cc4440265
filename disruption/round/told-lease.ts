// What becomes of a Lease that a round takes, for people: it changes no answer.
import type { BudgetName } from "../budget/budget.ts";
import { LeaseLostError } from "../errors.ts";
import type { RoundRuntime } from "./round-runtime.ts";

/** Of a Lease that was never written, or could not be given back, the end is not told. */
export interface LeaseObserver {
	leaseAcquired(lease: ObservedLease & { readonly leaseDurationMs: number; readonly waitedMs: number }): void;
	leaseReleased(lease: EndedLease): void;
	leaseLost(lease: EndedLease & { readonly message: string }): void;
}

export interface ObservedLease {
	readonly budget: BudgetName;
	/** Its cluster's name. */
	readonly cluster: string;
	readonly holder: string;
}

export interface EndedLease extends ObservedLease {
	readonly heldMs: number;
}

/** Tells how a Lease ended, once. */
export class ToldLease {
	readonly #lease: ObservedLease;
	readonly #runtime: Pick<RoundRuntime, "now">;
	readonly #observer: LeaseObserver | undefined;
	readonly #since: number;
	#hasEnded = false;

	constructor(lease: ObservedLease, runtime: Pick<RoundRuntime, "now">, observer: LeaseObserver | undefined) {
		this.#lease = lease;
		this.#runtime = runtime;
		this.#observer = observer;
		this.#since = runtime.now();
	}

	released(): void {
		this.#end((lease) => this.#observer?.leaseReleased(lease));
	}

	lost(message: string): void {
		this.#end((lease) => this.#observer?.leaseLost({ ...lease, message }));
	}

	/** It ends by itself, and nobody knows when. */
	leave(): void {
		this.#hasEnded = true;
	}

	/** The same question, whose answer may be that it is lost. */
	async unlessLost<Answer>(asked: Promise<Answer>): Promise<Answer> {
		try {
			return await asked;
		} catch (error) {
			if (error instanceof LeaseLostError) this.lost(error.message);
			throw error;
		}
	}

	#end(tell: (lease: EndedLease) => void): void {
		if (this.#hasEnded) return;
		this.#hasEnded = true;
		tell({ ...this.#lease, heldMs: this.#runtime.now() - this.#since });
	}
}
