// Answers of the API server that are good for a while: one question at a time for each key, and never more than a bounded
// number of answers. A failure is no answer and is not kept.

interface Kept<Answer> {
	readonly answer: Promise<Answer>;
	/** Unknown while the API server is being asked. */
	until: number;
}

interface KeptAnswersOptions<Answer> {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	readonly keepForMs: (answer: Answer) => number;
	/** The one that came first goes: it is only asked for again. */
	readonly max: number;
}

export class KeptAnswers<Answer> {
	readonly #options: KeptAnswersOptions<Answer>;
	readonly #byKey = new Map<string, Kept<Answer>>();

	constructor(options: KeptAnswersOptions<Answer>) {
		this.#options = options;
	}

	/** Whether there is an answer, or will be one that was asked for already. */
	has(key: string): boolean {
		const known = this.#byKey.get(key);
		return known !== undefined && this.#options.now() < known.until;
	}

	/** The answer that is kept, else the one that is asked for now. */
	async get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
		const now = this.#options.now();
		const known = this.#byKey.get(key);
		if (known && now < known.until) return known.answer;
		const kept: Kept<Answer> = { answer: ask(), until: Number.POSITIVE_INFINITY };
		this.#keep(key, kept, now);
		try {
			const answer = await kept.answer;
			// From before the question, so that an answer that took long is not used for longer.
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
