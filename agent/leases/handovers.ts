// Releases Leases that were handed over in line but are not used. A caller may have died while it waited, so it must show a sign of life
// within 2 s of its answer. The time starts when the answer was sent, because the count in it may take longer than 2 s.
//
// This is about progress only. The Lease itself shows whether it was renewed, committed or released, and the write that ends the hold
// checks that. A late holder finds that it has lost the Lease.
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
	/** By nonce: functions that end the wait for a sign of life. */
	readonly #waits = new Map<string, () => void>();

	constructor(options: HandoversOptions) {
		this.#options = options;
	}

	/** Starts to wait for a sign of life when `answered` resolves, because the answer was sent then. */
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

	/** Ends the wait: the acquisition was committed, lost or released. */
	end({ nonce }: Acquisition): void {
		this.#waits.get(nonce)?.();
		this.#waits.delete(nonce);
	}
}
