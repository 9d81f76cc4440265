// Leases that were handed over in line: whoever waited may have died meanwhile, so it has to show life soon after it was
// told. The time runs from when the answer went out, because the count in it may take longer than that time.
//
// About progress only: whether the Lease was renewed, committed or given back is judged by the Lease, in the write that
// ends the holding, and a holder that is late finds that it has lost it.
import type { Acquisition } from "../../disruption/budget/cluster.ts";
import { handoverDurationMs } from "../../disruption/lease/lease.ts";
import type { Clock } from "../process/clock.ts";

interface HandoversOptions {
	readonly clock: Pick<Clock, "after">;
	/** Gives the Lease back, unless its holder has shown life since it was acquired. */
	readonly giveBackUnused: (acquisition: Acquisition) => Promise<void>;
	readonly report: (problem: unknown) => void;
}

export class Handovers {
	readonly #options: HandoversOptions;
	/** By nonce: ends the wait for a sign of life. */
	readonly #waits = new Map<string, () => void>();

	constructor(options: HandoversOptions) {
		this.#options = options;
	}

	/** The answer with this acquisition goes out when `answered` resolves. */
	begin(acquisition: Acquisition, answered: Promise<void>): void {
		const { clock, giveBackUnused, report } = this.#options;
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
				giveBackUnused(acquisition).catch(report);
			});
		});
	}

	/** It was committed or given back: nothing is left to wait for. */
	end({ nonce }: Acquisition): void {
		this.#waits.get(nonce)?.();
		this.#waits.delete(nonce);
	}
}
