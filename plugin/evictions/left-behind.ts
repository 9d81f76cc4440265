// What could not be given back because its agent gave no answer: a Lease, or a reservation under which nothing will be sent. It
// ends by itself, but until then it uses up the budget for nothing, so it is tried again while the run goes on.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";

/** An agent that moves, or a tunnel that is made anew, is back within a second or two. */
const againAfterMs = 1_000;
/** A reservation's deadline, and the agents' turn after it. */
const endsByItselfMs = 35_000;

export class LeftBehind {
	readonly #runtime: Pick<RoundRuntime, "now" | "sleep">;
	readonly #tell: (problem: unknown) => void;
	readonly #over = new AbortController();
	readonly #pending = new Set<Promise<void>>();

	/** `tell` hears of what is left to end by itself. */
	constructor(runtime: Pick<RoundRuntime, "now" | "sleep">, tell: (problem: unknown) => void) {
		this.#runtime = runtime;
		this.#tell = tell;
	}

	add(problem: unknown, giveBack?: () => Promise<void>): void {
		if (!giveBack) {
			this.#tell(problem);
			return;
		}
		const pending = this.#giveBack(problem, giveBack).finally(() => this.#pending.delete(pending));
		this.#pending.add(pending);
	}

	/** The run is over: what is still to be given back is tried once more, now. */
	async settled(): Promise<void> {
		this.#over.abort("the run is over");
		await Promise.all(this.#pending);
	}

	async #giveBack(first: unknown, giveBack: () => Promise<void>): Promise<void> {
		const { now, sleep } = this.#runtime;
		const until = now() + endsByItselfMs;
		let problem = first;
		while (problem instanceof AgentUnavailableError && now() < until) {
			await sleep(againAfterMs, this.#over.signal);
			const isLast = this.#over.signal.aborted;
			try {
				await giveBack();
				return;
			} catch (error) {
				problem = error;
			}
			if (isLast) break;
		}
		this.#tell(problem);
	}
}
