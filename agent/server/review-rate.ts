// How many unknown tokens the API server is asked about. Whoever makes tokens up has one share with all who connect directly,
// and of that a small one for each address; people come through the API server's port-forward, that is from loopback, after
// it has let them in, and have a share of their own. Tokens that are known are no question here.
import { isLoopback } from "../process/is-loopback.ts";
import { TokenBucket } from "../process/token-bucket.ts";

interface ReviewRateOptions {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
}

/** A review is a request of some 5 ms: a tenth of what the agent may ask for in all, and a fleet's people at once. */
const forwarded = { perSecond: 10, burst: 40 };
const direct = { perSecond: 10, burst: 20 };
/** A pod that runs the plugin has one token, and a new one each eight minutes. */
const perAddress = { perSecond: 1, burst: 5 };
/** About 200 bytes each; those that are full again are forgotten first. */
const maxAddresses = 1_000;
/** Without an answer yet; each holds a call open. */
const maxUnderWay = 20;

export class ReviewRate {
	readonly #now: () => number;
	readonly #forwarded: TokenBucket;
	readonly #direct: TokenBucket;
	readonly #byAddress = new Map<string, TokenBucket>();
	#underWay = 0;

	constructor({ now }: ReviewRateOptions) {
		this.#now = now;
		this.#forwarded = new TokenBucket({ ...forwarded, now });
		this.#direct = new TokenBucket({ ...direct, now });
	}

	/**
	 * Whether another question may be asked for this address, of the caller's end of the connection: then the returned function
	 * is called when it is answered. Undefined if not.
	 */
	begin(address: string): (() => void) | undefined {
		if (this.#underWay >= maxUnderWay || !this.#take(address)) return undefined;
		this.#underWay++;
		return () => {
			this.#underWay--;
		};
	}

	#take(address: string): boolean {
		if (isLoopback(address)) return this.#forwarded.take();
		const bucket = this.#bucketOf(address);
		return bucket !== undefined && bucket.take() && this.#direct.take();
	}

	#bucketOf(address: string): TokenBucket | undefined {
		const known = this.#byAddress.get(address);
		if (known) return known;
		if (this.#byAddress.size >= maxAddresses) {
			for (const [other, bucket] of this.#byAddress) if (bucket.isFull) this.#byAddress.delete(other);
			if (this.#byAddress.size >= maxAddresses) return undefined;
		}
		const bucket = new TokenBucket({ ...perAddress, now: this.#now });
		this.#byAddress.set(address, bucket);
		return bucket;
	}
}
