// How many evictions are on their way to one API server at a time: more while it answers quickly, fewer while they only queue up
// there. On two cores that three clusters share, 25 at a time drained 3,000 pods in 0.8 of the time that 100 took: a grant that waits for
// longer than `freshForMs` costs two reads more, and agents whose API server is that busy cannot count.
import { freshForMs } from "../../disruption/eviction.ts";

const first = 50;
const least = 25;
/** They share the API server's slow read of PodDisruptionBudgets; beyond this many nothing is won. */
const most = 100;
const quickMs = freshForMs / 2;
/** Of what is as slow for one as for many, as behind a far link or an admission webhook: so many times the quickest answer. */
const aLittleMore = 1.5;
const muchMore = 3;

export class SendingPace {
	#atOnce = first;
	#quickestMs = Number.POSITIVE_INFINITY;

	get atOnce(): number {
		return this.#atOnce;
	}

	/** Granted ahead of their turn: about what is evicted while a round goes on. */
	get ahead(): number {
		return Math.min(25, Math.floor(this.#atOnce / 2));
	}

	/** `tookMs`: from when it was sent. */
	answered(tookMs: number): void {
		this.#quickestMs = Math.min(this.#quickestMs, tookMs);
		if (tookMs > Math.max(freshForMs, muchMore * this.#quickestMs)) {
			this.#atOnce = Math.max(least, this.#atOnce - 1);
		} else if (tookMs < Math.max(quickMs, aLittleMore * this.#quickestMs)) {
			this.#atOnce = Math.min(most, this.#atOnce + 1);
		}
	}
}
