// So many at a time, in the order in which they came.
export class Semaphore {
	#free: number;
	readonly #waiting = new Set<() => void>();

	constructor(places: number) {
		this.#free = places;
	}

	/** Resolves with true when there is a place, to be given back after use; with false where `over` aborted before. */
	async take(over?: AbortSignal): Promise<boolean> {
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
		// Its turn came in the very moment that it left.
		if (!hasPlace && !this.#waiting.delete(go)) this.giveBack();
		return hasPlace;
	}

	/** The next one takes the place over. */
	giveBack(): void {
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
			this.giveBack();
		}
	}
}
