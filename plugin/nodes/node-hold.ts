// Whether a run still holds a node that it drains: the node's annotation names the run by a random holder. Another run that drains the
// node writes its own, and so does the same operation when it is resumed elsewhere, for instance beside a laptop that was asleep.
//
// Guarantee: after `confirm` has resolved, the node was held at most `maxAgeMs` ago, or `lost` or `ends` has aborted. Where the API server
// takes longer than that to answer, it was held at most `patientForMs` ago. Budgets do not rest on it.
// Assumption: `now` includes the time that the machine slept.
import { unlessOver } from "../kubernetes/unless-over.ts";
import { errorText, isNotFound, isPassing } from "../kubernetes/api-error.ts";
import type { NodeTarget } from "./node-target.ts";
import type { OperationReading } from "./operation.ts";

export interface HoldOptions {
	/** Of this run. */
	readonly holder: string;
	/** The annotation of the node as it is now; undefined for none. Rejects as the client does. */
	readonly read: () => Promise<OperationReading | undefined>;
	/** Monotonic. */
	readonly now: () => number;
	readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Pods of a node that go one after the other share an answer that is as young as this. */
const maxAgeMs = 2_000;
/** How soon a run that only waits notices that it has lost the node. */
export const watchEveryMs = 10_000;
const askAgainAfterMs = 1_000;
/** An answer that took longer is none: the API server ends a request after 60 s, but a machine may have slept meanwhile. */
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

	/** Aborts once another run holds the node, or none does. */
	get lost(): AbortSignal {
		return this.#lost.signal;
	}

	/** Why, once it is lost. */
	get why(): string {
		return this.#why;
	}

	/** The operation that holds it now, once it is lost and if there is one. */
	get heldBy(): string | undefined {
		return this.#heldBy;
	}

	/** Call it before each step. It never rejects; while the API server gives no answer, it resolves only if `ends` aborts. */
	async confirm(ends: AbortSignal, youngerThanMs = maxAgeMs): Promise<void> {
		const { now, sleep } = this.#options;
		const calledAt = now();
		// A slow API server never gives an answer that is as young as others.
		const goodForMs = (): number => (this.#confirmedAt >= calledAt ? patientForMs : youngerThanMs);
		while (!this.lost.aborted && !ends.aborted && now() - this.#confirmedAt > goodForMs()) {
			this.#asking ??= this.#ask().finally(() => {
				this.#asking = undefined;
			});
			const asking = this.#asking.then(
				() => true,
				() => false,
			);
			// A request may take a minute, or wait for a person who logs in.
			const isAnswered = await unlessOver(asking, ends);
			if (isAnswered === false) await sleep(askAgainAfterMs, AbortSignal.any([ends, this.lost]));
		}
	}

	/** Confirms it now and then, for a run that waits; until `ends` aborts. */
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
			// Its pods go with it.
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
