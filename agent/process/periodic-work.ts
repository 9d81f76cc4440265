// Runs the agent's periodic work. A failed pass is reported and does not stop the job.
import type { Clock } from "./clock.ts";

export interface PeriodicJob {
	/** The pause before the first pass and after each pass. */
	readonly pauseMs: () => number;
	/** If true, the first pass starts immediately. */
	readonly isDueAtOnce?: boolean;
	/** `ending` aborts when the work ends. Return "done" if no other pass is needed. */
	readonly pass: (ending: AbortSignal) => void | "done" | Promise<void | "done">;
}

interface PeriodicWorkOptions {
	readonly clock: Pick<Clock, "after">;
	readonly report: (problem: unknown) => void;
}

export class PeriodicWork {
	readonly #options: PeriodicWorkOptions;
	readonly #ending = new AbortController();
	readonly #timers: { cancel: () => void }[] = [];

	constructor(options: PeriodicWorkOptions) {
		this.#options = options;
	}

	/** Starts a job. Jobs are independent: a slow pass does not delay other jobs. */
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
