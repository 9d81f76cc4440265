// How many granted pods may be on their way to one API server at a time, over all budgets, and how many more may be granted
// meanwhile, so that the next ones need not wait for a round. More would only queue up, while their grants grow too old to be
// used without another look at the pod.
import { Semaphore } from "../fleet/semaphore.ts";

/** Evictions that run side by side share the API server's slow read of PodDisruptionBudgets; beyond this many nothing is won. */
const sentAtOnce = 100;
/**
 * Granted ahead of their turn: about what is evicted while a round goes on. With 25, of 3,000 pods half had waited for longer than
 * `freshForMs`, and were read once more with their Lease: 90 s in the place of 71.
 */
const grantedAhead = 12;
/** While others are on their way, a round for fewer brings less than it costs. */
const worthARound = 12;

interface ContextLimit {
	/** Asked for in rounds that go on now. */
	asked: number;
	/** On their way, or granted and waiting for it. */
	granted: number;
	/** Those on their way. */
	readonly sending: Semaphore;
}

export class ConcurrencyLimit {
	/** By the name of the context. */
	readonly #contexts = new Map<string, ContextLimit>();
	readonly #onFreed = new Set<() => void>();
	#isPaused = false;

	/** Nothing new is asked for, and nothing that was granted is sent. */
	get isPaused(): boolean {
		return this.#isPaused;
	}

	pause(): void {
		this.#isPaused = true;
	}

	resume(): void {
		this.#isPaused = false;
		this.#wake();
	}

	/** Resolves at once where it is not paused; else when it goes on, or when the signal aborts. */
	async resumed(signal: AbortSignal): Promise<void> {
		while (this.#isPaused && !signal.aborted) await this.freed(signal);
	}

	/** How many of `due` pods of this context may be asked for now; their places are kept until as many were `answered`. */
	ask(context: string, due: number): number {
		if (this.#isPaused) return 0;
		const limit = this.#of(context);
		const free = sentAtOnce + grantedAhead - limit.asked - limit.granted;
		const places = free >= Math.min(due, worthARound) ? Math.min(free, due) : 0;
		limit.asked += places;
		return places;
	}

	/** The round is over, and those that were granted have been taken. */
	answered(context: string, places: number): void {
		this.#of(context).asked -= places;
		this.#wake();
	}

	/**
	 * For a pod that was granted: one that only waits for a grant must not keep others from theirs. Resolves with true when it
	 * may go, to be given back after that; with false where `over` aborted before.
	 */
	async take(context: string, over: AbortSignal): Promise<boolean> {
		const limit = this.#of(context);
		limit.granted += 1;
		const mayGo = await limit.sending.take(over);
		if (!mayGo) this.#ungrant(limit);
		return mayGo;
	}

	giveBack(context: string): void {
		const limit = this.#of(context);
		limit.sending.giveBack();
		this.#ungrant(limit);
	}

	/** Resolves when more may be granted in any context, or when the signal aborts. */
	async freed(signal: AbortSignal): Promise<void> {
		if (signal.aborted) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		const wake = (): void => resolve();
		this.#onFreed.add(wake);
		signal.addEventListener("abort", wake, { once: true });
		await promise;
		this.#onFreed.delete(wake);
		signal.removeEventListener("abort", wake);
	}

	#ungrant(limit: ContextLimit): void {
		limit.granted -= 1;
		this.#wake();
	}

	#wake(): void {
		for (const wake of this.#onFreed) wake();
	}

	#of(context: string): ContextLimit {
		const limit = this.#contexts.get(context) ?? { asked: 0, granted: 0, sending: new Semaphore(sentAtOnce) };
		this.#contexts.set(context, limit);
		return limit;
	}
}
