// Handles interruptions: Ctrl-C, SIGTERM, a closed terminal, and an output that can no longer be written. The first one stops a run
// gracefully, if the command supports that, and otherwise exits. The second one exits.
import type { ExitCode } from "./exit.ts";

export interface Interrupts {
	/** Aborts at the first interruption after `graceful()` was called. */
	readonly stop: AbortSignal;
	/** The exit code of that interruption. Undefined before it. */
	readonly stoppedBy: ExitCode | undefined;
	/** Interrupts the run as a signal does. */
	interrupt(code: ExitCode): void;
	/** From now on the first interruption only aborts `stop`. */
	graceful(): void;
	/** Registers a function to call before the process exits because of an interruption or a bug. The returned function removes it. */
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

	/** Calls the registered functions, then `say`, and exits. */
	leave(code: ExitCode, say?: () => void): void {
		for (const last of this.#lastWords) last(code);
		say?.();
		this.#exit(code);
	}

	/** `atOnce` is the exit code if the command does not stop gracefully. */
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
