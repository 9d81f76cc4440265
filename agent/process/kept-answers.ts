// Caches a limited number of answers, with one request at a time for each key. Failures are not cached.

interface Kept<Answer> {
	readonly answer: Promise<Answer>;
	/** Infinity while the request is running. */
	until: number;
}

interface KeptAnswersOptions<Answer> {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	readonly keepForMs: (answer: Answer) => number;
	/** The maximum number of answers. Expired answers are dropped first, then the oldest. */
	readonly max: number;
}

export class KeptAnswers<Answer> {
	readonly #options: KeptAnswersOptions<Answer>;
	readonly #byKey = new Map<string, Kept<Answer>>();

	constructor(options: KeptAnswersOptions<Answer>) {
		this.#options = options;
	}

	/** Whether there is a valid answer or a running request. */
	has(key: string): boolean {
		const known = this.#byKey.get(key);
		return known !== undefined && this.#options.now() < known.until;
	}

	async get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
		const now = this.#options.now();
		const known = this.#byKey.get(key);
		if (known && now < known.until) return known.answer;
		const kept: Kept<Answer> = { answer: ask(), until: Number.POSITIVE_INFINITY };
		this.#keep(key, kept, now);
		try {
			const answer = await kept.answer;
			// Counts from before the request, so that a slow answer is not used for longer.
			kept.until = now + this.#options.keepForMs(answer);
			return answer;
		} catch (error) {
			if (this.#byKey.get(key) === kept) this.#byKey.delete(key);
			throw error;
		}
	}

	#keep(key: string, kept: Kept<Answer>, now: number): void {
		const { max } = this.#options;
		this.#byKey.delete(key);
		if (this.#byKey.size >= max) {
			for (const [other, { until }] of this.#byKey) if (until <= now) this.#byKey.delete(other);
		}
		for (const oldest of this.#byKey.keys()) {
			if (this.#byKey.size < max) break;
			this.#byKey.delete(oldest);
		}
		this.#byKey.set(key, kept);
	}
}
