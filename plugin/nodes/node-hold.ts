// Checks whether a run still holds a node that it drains. The node's annotation names the run by a random holder. Another run that drains
// the node writes its own holder, even if it resumes the same operation, for example while the first laptop sleeps.
//
// Guarantee: after `confirm` has resolved, the node was held or was already deleted at most `maxAgeMs` ago, or `lost` or `ends` has
// aborted. If the API server takes longer than that to answer, this was at most `patientForMs` ago. No budget depends on this.
// Assumption: `now` includes the time that the machine slept.
import { unlessOver } from "../kubernetes/unless-over.ts";
import { errorText, isNotFound, isPassing } from "../kubernetes/api-error.ts";
import type { NodeTarget } from "./node-target.ts";
import type { OperationReading } from "./operation.ts";

export interface HoldOptions {
	readonly holder: string;
	/** Reads the node's current annotation. Undefined if there is none. Rejects as the client does. */
	readonly read: () => Promise<OperationReading | undefined>;
	/** Monotonic. */
	readonly now: () => number;
	readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Evictions on a node share an answer that is at most this old. */
const maxAgeMs = 2_000;
/** How often a run that only waits checks that it still holds the node. */
export const watchEveryMs = 10_000;
const askAgainAfterMs = 1_000;
/** A slower answer does not count. The API server ends a request after 60 s, but the machine may have slept meanwhile. */
const patientForMs = 65_000;

export class NodeHold {
	readonly #node: Pick<NodeTarget, "name">;
	readonly #options: HoldOptions;
	readonly #lost = new AbortController();
	#confirmedAt = Number.NEGATIVE_INFINITY;
	#asking: Promise<void> | undefined;
	#why = "";
	#heldBy: string | undefined;

	constructor(node: Pick<NodeTarget, "name">, options: HoldOptions) {
		this.#node = node;
		this.#options = options;
	}

	/** Aborts when another run holds the node, when no run does, or when the API server refuses to say. */
	get lost(): AbortSignal {
		return this.#lost.signal;
	}

	get why(): string {
		return this.#why;
	}

	/** The operation that holds the node now, if the node was lost to one. */
	get heldBy(): string | undefined {
		return this.#heldBy;
	}

	/**
	 * Resolves when a recent enough answer has shown that the node is held, when the node is lost, or when `ends` aborts. Never rejects.
	 * Call it before each step.
	 */
	async confirm(ends: AbortSignal, youngerThanMs = maxAgeMs): Promise<void> {
		const { now, sleep } = this.#options;
		const calledAt = now();
		// An answer that was requested during this call may be older, because a slow API server can never meet the shorter limit.
		const goodForMs = (): number => (this.#confirmedAt >= calledAt ? patientForMs : youngerThanMs);
		while (!this.lost.aborted && !ends.aborted && now() - this.#confirmedAt > goodForMs()) {
			this.#asking ??= this.#ask().finally(() => {
				this.#asking = undefined;
			});
			const asking = this.#asking.then(
				() => true,
				() => false,
			);
			// Also stop when `ends` aborts: a request may take a minute, or wait for a user to log in.
			const isAnswered = await unlessOver(asking, ends);
			if (isAnswered === false) await sleep(askAgainAfterMs, AbortSignal.any([ends, this.lost]));
		}
	}

	/** Confirms the hold periodically for a run that waits, until the node is lost or `ends` aborts. */
	async watch(ends: AbortSignal): Promise<void> {
		const over = AbortSignal.any([ends, this.lost]);
		while (!over.aborted) {
			await this.confirm(over, watchEveryMs / 2);
			if (!over.aborted) await this.#options.sleep(watchEveryMs, over);
		}
	}

	async #ask(): Promise<void> {
		const { holder, read, now } = this.#options;
		const askedAt = now();
		try {
			const found = await read();
			const operation = found?.kind === "operation" ? found.operation : undefined;
			if (operation?.holder === holder) {
				this.#confirmedAt = askedAt;
				return;
			}
			this.#heldBy = operation?.id;
			this.#lose(
				operation
					? `node "${this.#node.name}" was taken over by ${operation.by}, operation ${operation.id}: this run leaves it alone`
					: `node "${this.#node.name}" does not belong to this run any more, its annotation is gone or another one: this run leaves it alone`,
			);
		} catch (error) {
			// The node was deleted, and its pods with it.
			if (isNotFound(error)) this.#confirmedAt = askedAt;
			else if (isPassing(error)) throw error;
			else this.#lose(`whether this run still holds node "${this.#node.name}" is not known: ${errorText(error)}`);
		}
	}

	#lose(why: string): void {
		this.#why = why;
		this.#lost.abort(new Error(why));
	}
}
