// How many granted pods may be on their way to one API server at a time, over all budgets, and how many more may be granted
// meanwhile, so that the next ones need not wait for a round. More would only queue up, while their grants grow too old to be
// used without another look at the pod.

/** Evictions that run side by side share the API server's slow read of PodDisruptionBudgets; beyond this many nothing is won. */
const slotsPerContext = 100;
/** Granted ahead of their turn: about what is evicted while a round goes on. */
const aheadPerContext = 25;
/** While others are on their way, a round for fewer brings less than it costs. */
const worthARound = 12;

interface ContextSlots {
	/** Asked for in rounds that go on now. */
	asked: number;
	/** On their way, or granted and waiting for it. */
	granted: number;
	sent: number;
	/** First come, first served. */
	readonly waiting: Set<() => void>;
}

export class EvictionSlots {
	/** By the name of the context. */
	readonly #contexts = new Map<string, ContextSlots>();
	readonly #onFreed = new Set<() => void>();

	/** How many of `due` pods of this context may be asked for now; their places are kept until as many were `answered`. */
	ask(context: string, due: number): number {
		const slots = this.#of(context);
		const free = slotsPerContext + aheadPerContext - slots.asked - slots.granted;
		const places = free >= Math.min(due, worthARound) ? Math.min(free, due) : 0;
		slots.asked += places;
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
		const slots = this.#of(context);
		slots.granted += 1;
		if (slots.sent < slotsPerContext) {
			slots.sent += 1;
			return true;
		}
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const go = (): void => resolve(true);
		const leave = (): void => resolve(false);
		slots.waiting.add(go);
		over.addEventListener("abort", leave, { once: true });
		const mayGo = await promise;
		over.removeEventListener("abort", leave);
		if (!mayGo && slots.waiting.delete(go)) this.#ungrant(slots);
		// Its turn came in the very moment that it left.
		else if (!mayGo) this.giveBack(context);
		return mayGo;
	}

	giveBack(context: string): void {
		const slots = this.#of(context);
		const [next] = slots.waiting;
		if (next) {
			slots.waiting.delete(next);
			next();
		} else slots.sent -= 1;
		this.#ungrant(slots);
	}

	/** Resolves when there is room for more grants in any context, or when the signal aborts. */
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

	#ungrant(slots: ContextSlots): void {
		slots.granted -= 1;
		this.#wake();
	}

	#wake(): void {
		for (const wake of this.#onFreed) wake();
	}

	#of(context: string): ContextSlots {
		const slots = this.#contexts.get(context) ?? { asked: 0, granted: 0, sent: 0, waiting: new Set() };
		this.#contexts.set(context, slots);
		return slots;
	}
}
