// Releases Leases and cancels reservations that a first attempt left behind because their agent gave no answer. They end by themselves, but
// until then they hold up other runs or use up the budget. So the run keeps trying while it continues, for 35 s at most.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";

/** An agent that moves, or a tunnel that is rebuilt, is back within a second or two. */
const againAfterMs = 1_000;
/** A reservation's deadline, plus the time that the agents then need to end it. */
const endsByItselfMs = 35_000;

export class LeftBehind {
	readonly #runtime: Pick<RoundRuntime, "now" | "sleep">;
	readonly #tell: (problem: unknown) => void;
	readonly #over = new AbortController();
	readonly #pending = new Set<Promise<void>>();

	/** `tell` is called with the problem of each Lease or reservation that is left to end by itself. */
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

	/** Ends the waits and tries everything that is still pending once more, immediately. */
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
