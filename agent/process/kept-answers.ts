// Caches answers for a while, with one request at a time for each key, and a bounded number of answers. A failure is not an answer and is
// not kept.

interface Kept<Answer> {
	readonly answer: Promise<Answer>;
	/** Infinite while the request is under way. */
	until: number;
}

interface KeptAnswersOptions<Answer> {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	readonly keepForMs: (answer: Answer) => number;
	/** The maximum number of answers. To make room, expired ones are dropped first, and then the oldest; they can be requested again. */
	readonly max: number;
}

export class KeptAnswers<Answer> {
	readonly #options: KeptAnswersOptions<Answer>;
	readonly #byKey = new Map<string, Kept<Answer>>();

	constructor(options: KeptAnswersOptions<Answer>) {
		this.#options = options;
	}

	/** Whether there is an answer, or a request for it is under way. */
	has(key: string): boolean {
		const known = this.#byKey.get(key);
		return known !== undefined && this.#options.now() < known.until;
	}

	/** Returns the kept answer, or else the answer to a request that is sent now. */
	async get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
		const now = this.#options.now();
		const known = this.#byKey.get(key);
		if (known && now < known.until) return known.answer;
		const kept: Kept<Answer> = { answer: ask(), until: Number.POSITIVE_INFINITY };
		this.#keep(key, kept, now);
		try {
			const answer = await kept.answer;
			// Counted from before the request, so that a slow answer is not used for longer.
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
