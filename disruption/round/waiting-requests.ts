// The requests that wait for a grant under the same budgets, from all nodes and clusters, in the order of their turns.
import type { GrantAnswer, GrantRequest } from "./grant-request.ts";
import type { Wait } from "./wait.ts";

export class WaitingRequest {
	readonly request: GrantRequest;
	/** No round includes this request before this time on the runtime's clock. */
	dueAt = 0;
	readonly answer: Promise<GrantAnswer | undefined>;
	readonly #answer = Promise.withResolvers<GrantAnswer | undefined>();
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

	/** Aborts when the request has an answer, or when its signal has aborted. */
	get over(): AbortSignal {
		return this.#over.signal;
	}

	/** Reports why the request waits, and the milliseconds until the next look or round. */
	tell(wait: Wait, nextMs: number): void {
		this.request.last = wait;
		this.request.onWait?.(wait, nextMs);
	}

	/** Ends the wait with this answer, or with undefined if the signal has aborted. */
	finish(answer: GrantAnswer | undefined): void {
		this.#end();
		this.#answer.resolve(answer);
	}

	fail(error: unknown): void {
		this.#end();
		this.#answer.reject(error);
	}

	#end(): void {
		this.request.signal.removeEventListener("abort", this.#onAbort);
		// Without a reason, each abort() would create an unused Error with its stack.
		this.#over.abort("it was answered");
	}

	readonly #onAbort = (): void => this.finish(undefined);
}

export class WaitingRequests {
	/** By the pod's uid. */
	readonly #waiting = new Map<string, WaitingRequest>();
	#arrival = new AbortController();

	get size(): number {
		return this.#waiting.size;
	}

	/** Adds a request. It leaves by itself when it has been answered. */
	add(waiting: WaitingRequest): void {
		this.#waiting.set(waiting.uid, waiting);
		const leave = (): void => {
			if (this.has(waiting)) this.#waiting.delete(waiting.uid);
		};
		waiting.over.addEventListener("abort", leave, { once: true });
		this.#arrival.abort("another one came");
	}

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

	/** Returns when the first of the later requests becomes due. Undefined if all are due. */
	nextDueAt(now: number): number | undefined {
		const later = this.all()
			.map(({ dueAt }) => dueAt)
			.filter((dueAt) => dueAt > now);
		return later.length > 0 ? Math.min(...later) : undefined;
	}

	/** Moves requests to the end, so that those beyond the size of one round get their turn in the next one. */
	sendToTheEnd(some: readonly WaitingRequest[]): void {
		for (const waiting of some) {
			if (this.#waiting.delete(waiting.uid)) this.#waiting.set(waiting.uid, waiting);
		}
	}

	fail(error: unknown): void {
		for (const waiting of this.all()) waiting.fail(error);
	}
}

/** Returns a signal that aborts when all of these requests have ended, because then no request waits for their round. */
export function allOver(some: readonly WaitingRequest[]): AbortSignal {
	const over = new AbortController();
	let waiting = some.length;
	for (const { over: answered } of some) {
		const end = (): void => {
			waiting -= 1;
			if (waiting === 0) over.abort(new Error("no request waits for this round any more"));
		};
		if (answered.aborted) end();
		else answered.addEventListener("abort", end, { once: true });
	}
	return over.signal;
}
