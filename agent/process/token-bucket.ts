// Limits a rate: `perSecond` on average, and `burst` in quick succession after a quiet time.
interface TokenBucketOptions {
	readonly perSecond: number;
	readonly burst: number;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
}

export class TokenBucket {
	readonly #options: TokenBucketOptions;
	#left: number;
	#at: number;

	constructor(options: TokenBucketOptions) {
		this.#options = options;
		this.#left = options.burst;
		this.#at = options.now();
	}

	get isFull(): boolean {
		this.#fill();
		return this.#left >= this.#options.burst;
	}

	/** Returns whether the action may happen now. If so, it is counted. */
	take(): boolean {
		this.#fill();
		if (this.#left < 1) return false;
		this.#left -= 1;
		return true;
	}

	#fill(): void {
		const { perSecond, burst, now } = this.#options;
		const at = now();
		this.#left = Math.min(burst, this.#left + ((at - this.#at) / 1000) * perSecond);
		this.#at = at;
	}
}
