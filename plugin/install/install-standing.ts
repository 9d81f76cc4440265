// Reports what an interrupted installation has done, as soon as it is interrupted.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { exitCode } from "../terminal/exit.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { TextSink } from "../terminal/streams.ts";

type Phase = "planning" | "applying" | "checking";

export class InstallStanding implements Disposable {
	/** In the phase `applying`, the code that applies reports the first interruption itself. */
	phase: Phase = "planning";
	readonly #contexts: readonly KubeContext[];
	readonly #stderr: TextSink;
	readonly #forget: () => void;

	constructor(contexts: readonly KubeContext[], interrupts: Pick<Interrupts, "onLeave">, stderr: TextSink) {
		this.#contexts = contexts;
		this.#stderr = stderr;
		this.#forget = interrupts.onLeave((code) => {
			// A reader that has closed the output (`| head`) wants nothing more.
			if (code !== exitCode.done) this.tell();
		});
	}

	[Symbol.dispose](): void {
		this.#forget();
	}

	tell(): void {
		this.#stderr.write(`error: interrupted: ${this.#text()}\n`);
	}

	#text(): string {
		switch (this.phase) {
			case "planning":
				return "nothing was touched";
			case "applying":
				return "what is listed above was applied, and maybe the next; run the same command to continue";
			case "checking":
				return `everything is applied, but the checks are not finished: run ${this.#check()}`;
		}
	}

	#check(): string {
		const [one, ...others] = this.#contexts;
		if (!one) return "";
		return others.length > 0 ? one.suggest.xpdbInAll(["check"]) : one.suggest.xpdb(["check"], one.name);
	}
}
