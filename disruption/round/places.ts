// How many granted pods may be on their way to one API server at a time, over all budgets, and how many more may be granted
// meanwhile, so that the next ones need not wait for a round. More would only queue up, while their grants grow too old to be
// used without another look at the pod.
import { Semaphore } from "./semaphore.ts";

/** Evictions that run side by side share the API server's slow read of PodDisruptionBudgets; beyond this many nothing is won. */
const sentAtOnce = 100;
/**
 * Granted ahead of their turn: about what is evicted while a round goes on. With 25, of 3,000 pods half had waited for longer than
 * `freshForMs`, and were read once more with their Lease: 90 s in the place of 71.
 */
const grantedAhead = 12;
/** While others are on their way, a round for fewer brings less than it costs. */
const worthARound = 12;

/** One API server. */
interface Lane {
	/** Asked for in rounds that go on now. */
	asked: number;
	/** On their way, or granted and waiting for it. */
	granted: number;
	/** Those on their way. */
	readonly sending: Semaphore;
}

/** Of one pod that may go. It must be ended, whatever became of the pod. */
export interface Place {
	/** Resolves with true when it is the pod's turn, with false where `over` aborted before. */
	turn(over: AbortSignal): Promise<boolean>;
	end(): void;
}

export class Places {
	readonly #lanes = new Map<string, Lane>();
	readonly #onFreed = new Set<() => void>();
	#isPaused = false;

	/** Nothing new is asked for, and nothing that was granted is sent. */
	get isPaused(): boolean {
		return this.#isPaused;
	}

	pause(): void {
		this.#isPaused = true;
	}

	resume(): void {
		this.#isPaused = false;
		this.#wake();
	}

	/** Resolves at once where it is not paused; else when it goes on, or when the signal aborts. */
	async resumed(signal: AbortSignal): Promise<void> {
		while (this.#isPaused && !signal.aborted) await this.freed(signal);
	}

	/** How many of `due` pods may be asked for now; their places are kept until as many were `answered`. */
	ask(lane: string, due: number): number {
		if (this.#isPaused) return 0;
		const found = this.#of(lane);
		const free = sentAtOnce + grantedAhead - found.asked - found.granted;
		const places = free >= Math.min(due, worthARound) ? Math.min(free, due) : 0;
		found.asked += places;
		return places;
	}

	/** The round is over, and those that may go have their places. */
	answered(lane: string, places: number): void {
		this.#of(lane).asked -= places;
		this.#wake();
	}

	/** For a pod that may go: one that only waits for a grant must not keep others from theirs. */
	keep(lane: string): Place {
		const found = this.#of(lane);
		found.granted += 1;
		let hasTurn = false;
		return {
			async turn(over) {
				return (hasTurn = await found.sending.take(over));
			},
			end: () => {
				if (hasTurn) found.sending.giveBack();
				found.granted -= 1;
				this.#wake();
			},
		};
	}

	/** Resolves when more may be granted in any lane, or when the signal aborts. */
	async freed(signal: AbortSignal): Promise<void> {
		if (signal.aborted) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		const wake = (): void => resolve();
		this.#onFreed.add(wake);
		signal.addEventListener("abort", wake, { once: true });
		await promise;
		this.#onFreed.delete(wake);
		signal.removeEventListener("abort", wake);
	}

	#wake(): void {
		for (const wake of this.#onFreed) wake();
	}

	#of(name: string): Lane {
		const lane = this.#lanes.get(name) ?? { asked: 0, granted: 0, sending: new Semaphore(sentAtOnce) };
		this.#lanes.set(name, lane);
		return lane;
	}
}

/** Places that are kept until they are ended, and other work that must not be left behind. */
export class PlacesInUse {
	readonly #places: Places;
	readonly #underWay = new Set<Promise<void>>();

	constructor(places: Places) {
		this.#places = places;
	}

	/** From this very moment on. */
	keep(lane: string): Place {
		const place = this.#places.keep(lane);
		const { promise, resolve } = Promise.withResolvers<void>();
		this.track(promise);
		return {
			...place,
			end() {
				place.end();
				resolve();
			},
		};
	}

	track(work: Promise<void>): void {
		const tracked = work.finally(() => this.#underWay.delete(tracked));
		this.#underWay.add(tracked);
	}

	/** Resolves when those that are under way now have ended. */
	async settled(): Promise<void> {
		await Promise.all(this.#underWay);
	}
}
