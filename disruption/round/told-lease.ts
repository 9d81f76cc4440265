// Reports how the Leases of a round end, for people. It changes no answer.
import { LeaseLostError } from "../errors.ts";
import type { EndedLease, ObservedLease, RoundObserver, RoundRuntime } from "./round-runtime.ts";

export class ToldLease {
	readonly #lease: ObservedLease;
	readonly #runtime: Pick<RoundRuntime, "now">;
	readonly #observer: Partial<RoundObserver> | undefined;
	readonly #since: number;
	#hasEnded = false;

	constructor(lease: ObservedLease, runtime: Pick<RoundRuntime, "now">, observer: Partial<RoundObserver> | undefined) {
		this.#lease = lease;
		this.#runtime = runtime;
		this.#observer = observer;
		this.#since = runtime.now();
	}

	released(): void {
		this.#end((lease) => this.#observer?.leaseReleased?.(lease));
	}

	lost(message: string): void {
		this.#end((lease) => this.#observer?.leaseLost?.({ ...lease, message }));
	}

	/** Reports nothing from now on: the Lease ends by itself at an unknown time. */
	leave(): void {
		this.#hasEnded = true;
	}

	/** Reports the loss if the call fails with LeaseLostError. */
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
