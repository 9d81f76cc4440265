// How many granted pods may be on their way to one API server at a time, over all budgets. More would only queue up there,
// each with a connection of its own, while their grants grow too old to be used without another look at the pod.

/** Evictions that run side by side share the API server's slow read of PodDisruptionBudgets; beyond this many nothing is won. */
const slotsPerContext = 25;

export class EvictionSlots {
	/** By the name of the context. */
	readonly #taken = new Map<string, number>();
	readonly #waiting = new Set<() => void>();

	/** How many more pods of this context may be asked for. Budgets that ask at once may overdraw it; that does no harm. */
	free(context: string): number {
		return slotsPerContext - (this.#taken.get(context) ?? 0);
	}

	/** For a pod that was granted: one that only waits for a grant must not keep others from theirs. */
	take(context: string): void {
		this.#taken.set(context, (this.#taken.get(context) ?? 0) + 1);
	}

	giveBack(context: string): void {
		this.#taken.set(context, (this.#taken.get(context) ?? 0) - 1);
		for (const wake of this.#waiting) wake();
	}

	/** Resolves when a slot of any context is given back, or when the signal aborts. */
	async freed(signal: AbortSignal): Promise<void> {
		if (signal.aborted) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#waiting.add(resolve);
		signal.addEventListener("abort", () => resolve(), { once: true });
		await promise;
		this.#waiting.delete(resolve);
	}
}
