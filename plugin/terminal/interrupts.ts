// Ctrl-C, SIGTERM and a closed pipe. The first one stops a run gracefully, if the command knows how; the second leaves.
import type { ExitCode } from "./exit.ts";

export interface Interrupts {
	/** Aborts at the first interruption after `graceful()`. */
	readonly stop: AbortSignal;
	/** The exit code of that interruption. */
	readonly stoppedBy: ExitCode | undefined;
	/** As a signal does it. */
	interrupt(code: ExitCode): void;
	/** From now on the first interruption only aborts `stop`. */
	graceful(): void;
	/** Called before the process leaves for an interruption; until the function that it returns is called. */
	onLeave(last: (code: ExitCode) => void): () => void;
}

export class InterruptSource implements Interrupts {
	readonly #controller = new AbortController();
	readonly #exit: (code: ExitCode) => void;
	readonly #lastWords = new Set<(code: ExitCode) => void>();
	#graceful = false;
	#stoppedBy: ExitCode | undefined;

	constructor(exit: (code: ExitCode) => void) {
		this.#exit = exit;
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

	onLeave(last: (code: ExitCode) => void): () => void {
		this.#lastWords.add(last);
		return () => void this.#lastWords.delete(last);
	}

	/** `say`: what comes after the last words. */
	leave(code: ExitCode, say?: () => void): void {
		for (const last of this.#lastWords) last(code);
		say?.();
		this.#exit(code);
	}

	/** `code`: what to leave with. `atOnce`: the code where nothing is there to be stopped gracefully. */
	interrupt(code: ExitCode, { atOnce = code }: { readonly atOnce?: ExitCode } = {}): void {
		if (!this.#graceful) {
			this.leave(atOnce);
		} else if (this.#stoppedBy === undefined) {
			this.#stoppedBy = code;
			this.#controller.abort(new Error("interrupted"));
		} else {
			this.leave(this.#stoppedBy);
		}
	}
}
