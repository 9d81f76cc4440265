// Ctrl-C, SIGTERM and a closed pipe. The first one stops a run gracefully, if the command knows how; the second leaves.
import type { ExitCode } from "./exit.ts";

export interface Interrupts {
	/** Aborts at the first interruption after `graceful()`. */
	readonly stop: AbortSignal;
	/** The exit code of that interruption. */
	readonly stoppedBy: ExitCode | undefined;
	/** From now on the first interruption only aborts `stop`. */
	graceful(): void;
}

export class InterruptSource implements Interrupts {
	readonly #controller = new AbortController();
	readonly #leave: (code: number) => void;
	#graceful = false;
	#stoppedBy: ExitCode | undefined;

	constructor(leave: (code: number) => void) {
		this.#leave = leave;
	}

	get stop(): AbortSignal {
		return this.#controller.signal;
	}

	get stoppedBy(): ExitCode | undefined {
		return this.#stoppedBy;
	}

	graceful(): void {
		this.#graceful = true;
	}

	/** `code`: what to leave with. `atOnce`: the code where nothing is there to be stopped gracefully. */
	interrupt(code: ExitCode, { atOnce = code }: { readonly atOnce?: number } = {}): void {
		if (!this.#graceful) {
			this.#leave(atOnce);
		} else if (this.#stoppedBy === undefined) {
			this.#stoppedBy = code;
			this.#controller.abort(new Error("interrupted"));
		} else {
			this.#leave(this.#stoppedBy);
		}
	}
}
