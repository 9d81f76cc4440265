// Leases that were handed over in line. The waiting caller may have died meanwhile, so it must show a sign of life soon after its answer.
// The time starts when the answer was sent, because the count in it may take longer than that time.
//
// This is about progress only. The Lease itself shows whether it was renewed, committed or released, and the write that ends the hold
// checks that. A holder that is late finds that it has lost the Lease.
import type { Acquisition } from "../../disruption/budget/cluster.ts";
import { handoverDurationMs } from "../../disruption/lease/lease.ts";
import type { Clock } from "../process/clock.ts";

interface HandoversOptions {
	readonly clock: Pick<Clock, "after">;
	/** Releases the Lease, unless its holder has shown a sign of life since it was acquired. */
	readonly releaseUnused: (acquisition: Acquisition) => Promise<void>;
	readonly report: (problem: unknown) => void;
}

export class Handovers {
	readonly #options: HandoversOptions;
	/** Functions that end the wait for a sign of life, by nonce. */
	readonly #waits = new Map<string, () => void>();

	constructor(options: HandoversOptions) {
		this.#options = options;
	}

	/** The answer with this acquisition is sent when `answered` resolves. */
	begin(acquisition: Acquisition, answered: Promise<void>): void {
		const { clock, releaseUnused, report } = this.#options;
		const { nonce } = acquisition;
		let ended = false;
		let cancelTimer = (): void => undefined;
		this.#waits.set(nonce, () => {
			ended = true;
			cancelTimer();
		});
		void answered.then(() => {
			if (ended) return;
			cancelTimer = clock.after(handoverDurationMs, () => {
				this.#waits.delete(nonce);
				releaseUnused(acquisition).catch(report);
			});
		});
	}

	/** It was committed or released: there is nothing left to wait for. */
	end({ nonce }: Acquisition): void {
		this.#waits.get(nonce)?.();
		this.#waits.delete(nonce);
	}
}
