// Those who wait for a grant under the same budgets, of every node and every cluster, in the order of their turns.
import type { GrantAnswer, GrantRequest } from "./grant-request.ts";
import type { Wait } from "./wait.ts";

/** Until it is answered, or until its signal aborts. */
export class WaitingRequest {
	readonly request: GrantRequest;
	/** Why it waits, as it was last. */
	last: Wait | undefined;
	/** On the runtime's clock: no round before. */
	dueAt = 0;
	readonly answer: Promise<GrantAnswer>;
	readonly #answer = Promise.withResolvers<GrantAnswer>();
	readonly #over = new AbortController();

	constructor(request: GrantRequest) {
		this.request = request;
		this.answer = this.#answer.promise;
		request.signal.addEventListener("abort", this.#onAbort, { once: true });
		if (request.signal.aborted) this.#onAbort();
	}

	get uid(): string {
		return this.request.candidate.pod.uid;
	}

	/** Aborts when it has been answered, however that was. */
	get over(): AbortSignal {
		return this.#over.signal;
	}

	/** Why it waits, and in how long that is looked at again. */
	tell(wait: Wait, nextMs: number): void {
		this.last = wait;
		this.request.onWait?.(wait, nextMs);
	}

	finish(answer: GrantAnswer): void {
		this.#end();
		this.#answer.resolve(answer);
	}

	fail(error: unknown): void {
		this.#end();
		this.#answer.reject(error);
	}

	#end(): void {
		this.request.signal.removeEventListener("abort", this.#onAbort);
		// With a reason: without one each abort makes an Error with its stack, for nobody.
		this.#over.abort("it was answered");
	}

	readonly #onAbort = (): void => this.finish({ kind: "over", ...(this.last && { last: this.last }) });
}

export class WaitingRequests {
	/** By the pod's uid. */
	readonly #waiting = new Map<string, WaitingRequest>();
	#arrival = new AbortController();

	get size(): number {
		return this.#waiting.size;
	}

	/** It leaves by itself when it was answered. */
	add(waiting: WaitingRequest): void {
		this.#waiting.set(waiting.uid, waiting);
		const leave = (): void => {
			if (this.has(waiting)) this.#waiting.delete(waiting.uid);
		};
		waiting.over.addEventListener("abort", leave, { once: true });
		this.#arrival.abort("another one came");
	}

	/** Aborts when another one comes. */
	nextArrival(): AbortSignal {
		this.#arrival = new AbortController();
		return this.#arrival.signal;
	}

	all(): readonly WaitingRequest[] {
		return [...this.#waiting.values()];
	}

	find(uid: string): WaitingRequest | undefined {
		return this.#waiting.get(uid);
	}

	has(waiting: WaitingRequest): boolean {
		return this.#waiting.get(waiting.uid) === waiting;
	}

	due(now: number): readonly WaitingRequest[] {
		return this.all().filter(({ dueAt }) => dueAt <= now);
	}

	/** When the first of those that are not due will be; none where all of them are. */
	nextDueAt(now: number): number | undefined {
		const later = this.all()
			.map(({ dueAt }) => dueAt)
			.filter((dueAt) => dueAt > now);
		return later.length > 0 ? Math.min(...later) : undefined;
	}

	/** So that more than a round takes have their turn in the next one. */
	sendToTheEnd(some: readonly WaitingRequest[]): void {
		for (const waiting of some) {
			if (this.#waiting.delete(waiting.uid)) this.#waiting.set(waiting.uid, waiting);
		}
	}

	fail(error: unknown): void {
		for (const waiting of this.all()) waiting.fail(error);
	}
}

/** Aborts when the last of these has been answered: nobody waits for their round any more. */
export function allOver(some: readonly WaitingRequest[]): AbortSignal {
	const over = new AbortController();
	let waiting = some.length;
	for (const { over: answered } of some) {
		const end = (): void => {
			waiting -= 1;
			if (waiting === 0) over.abort(new Error("nobody waits for this round any more"));
		};
		if (answered.aborted) end();
		else answered.addEventListener("abort", end, { once: true });
	}
	return over.signal;
}
