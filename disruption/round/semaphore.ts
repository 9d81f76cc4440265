// Limits how many callers run at the same time. The others wait in the order of their arrival.
export class Semaphore {
	#free: number;
	readonly #waiting = new Set<() => void>();

	constructor(places: number) {
		this.#free = places;
	}

	/** Resolves with true once the caller has a place, which it must release after use. Resolves with false if `over` aborts first. */
	async take(over?: AbortSignal): Promise<boolean> {
		if (over?.aborted) return false;
		if (this.#free > 0) {
			this.#free -= 1;
			return true;
		}
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const go = (): void => resolve(true);
		const leave = (): void => resolve(false);
		this.#waiting.add(go);
		over?.addEventListener("abort", leave, { once: true });
		const hasPlace = await promise;
		over?.removeEventListener("abort", leave);
		// The caller was given a place just as it left.
		if (!hasPlace && !this.#waiting.delete(go)) this.release();
		return hasPlace;
	}

	release(): void {
		const [next] = this.#waiting;
		if (next) {
			this.#waiting.delete(next);
			next();
		} else this.#free += 1;
	}

	async run<T>(work: () => Promise<T>): Promise<T> {
		await this.take();
		try {
			return await work();
		} finally {
			this.release();
		}
	}
}
