// Runs all of the agent's periodic work. A pass that fails is reported, and the next one still comes.
import type { Clock } from "./clock.ts";

export interface PeriodicJob {
	/** Returns the pause before the first pass, and from the end of each pass to the next. */
	readonly pauseMs: () => number;
	/** If true, the first pass does not wait. */
	readonly isDueAtOnce?: boolean;
	/** Makes one pass. `ending` aborts when the work ends. Returns "done" if no other pass is needed. */
	readonly pass: (ending: AbortSignal) => void | "done" | Promise<void | "done">;
}

interface PeriodicWorkOptions {
	readonly clock: Pick<Clock, "after">;
	readonly report: (problem: unknown) => void;
}

export class PeriodicWork {
	readonly #options: PeriodicWorkOptions;
	readonly #ending = new AbortController();
	/** One for each job. */
	readonly #timers: { cancel: () => void }[] = [];

	constructor(options: PeriodicWorkOptions) {
		this.#options = options;
	}

	/** Starts a job. Each job goes at its own pace: a pass that takes long does not delay other jobs. */
	begin(job: PeriodicJob): void {
		const { clock, report } = this.#options;
		const { signal } = this.#ending;
		const timer = { cancel: () => {} };
		this.#timers.push(timer);
		const pass = async (): Promise<void> => {
			try {
				if ((await job.pass(signal)) === "done") return;
			} catch (error) {
				report(error);
			}
			pause();
		};
		const pause = (): void => {
			if (!signal.aborted) timer.cancel = clock.after(job.pauseMs(), () => void pass());
		};
		if (job.isDueAtOnce === true) void pass();
		else pause();
	}

	close(): void {
		this.#ending.abort();
		for (const { cancel } of this.#timers) cancel();
	}
}
