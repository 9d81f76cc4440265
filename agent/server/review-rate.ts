// Limits how many unknown tokens the API server reviews. All direct callers share one limit. Each address, and each IPv6 network, has a smaller
// one, so made-up tokens from one place do not use up the shared limit.
//
// Calls through the API server's port-forward arrive from loopback. They have their own limit, because the API server has already admitted
// their callers.
import { isLoopback } from "../process/is-loopback.ts";
import { networkOf } from "../process/network-of.ts";
import { TokenBucket } from "../process/token-bucket.ts";

interface ReviewRateOptions {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
}

/** A review is a request of some 5 ms, so these rates cost the API server little. */
const forwarded = { perSecond: 10, burst: 40 };
const direct = { perSecond: 10, burst: 20 };
/** Enough for a pod that runs the plugin: it has one token, and renews it every 7.5 minutes. */
const perAddress = { perSecond: 1, burst: 5 };
/** One machine can have every address of an IPv6 network, but all nodes of a cluster can be in one, too. */
const perNetwork = { perSecond: 5, burst: 10 };
/** About 200 bytes each. */
const maxAddresses = 1_000;
/** Unanswered reviews; each holds a call open. */
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
	 * Starts a review for a caller at this address. Call the returned function when it is answered. Returns undefined if no further review
	 * may start.
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
		const bucket = this.#bucketOf(address, networkOf(address));
		return bucket !== undefined && bucket.take() && this.#direct.take();
	}

	#bucketOf(address: string, network: string): TokenBucket | undefined {
		const known = this.#byAddress.get(network);
		if (known) return known;
		if (this.#byAddress.size >= maxAddresses) {
			for (const [other, bucket] of this.#byAddress) if (bucket.isFull) this.#byAddress.delete(other);
			if (this.#byAddress.size >= maxAddresses) return undefined;
		}
		const bucket = new TokenBucket({ ...(network === address ? perAddress : perNetwork), now: this.#now });
		this.#byAddress.set(network, bucket);
		return bucket;
	}
}
