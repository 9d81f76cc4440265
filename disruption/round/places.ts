// Limits how many pods that rounds allow to be evicted, with or without a grant, may be on their way to one API server at a time. A
// few more are granted ahead, so that they need not wait for a round. If more were granted ahead, their grants would become too old, and
// each would need another read of its pod.
import { Semaphore } from "./semaphore.ts";

/** Concurrent evictions share the API server's slow read of PodDisruptionBudgets, so more than this many gain nothing. */
const sentAtOnce = 100;
/**
 * How many pods are granted before their turn: about as many as are evicted during one round. With 25, half of 3,000 pods waited longer
 * than freshForMs. They and their Leases had to be read again, and the drain took 90 s instead of 71 s.
 */
const grantedAhead = 12;
/**
 * A round starts only if this many places are free, or enough for all pods that are due. While other pods are on their way, a smaller round
 * costs more than it gains.
 */
const worthARound = 12;

/** The pods for one API server. */
interface Lane {
	/** Requested in rounds that are running now. */
	asked: number;
	/** Pods that may be evicted, with or without a grant: on their way, or waiting for their turn. */
	granted: number;
	readonly sending: Semaphore;
}

/** The place of one pod that may be evicted. It must be ended, whatever happens to the pod. */
export interface Place {
	/** Resolves with true when it is the pod's turn, with false if `over` aborts first. */
	turn(over: AbortSignal): Promise<boolean>;
	end(): void;
}

export class Places {
	readonly #lanes = new Map<string, Lane>();
	readonly #onFreed = new Set<() => void>();
	#isPaused = false;

	/** In a pause no grant is requested, and no new eviction is sent. */
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

	/** Resolves when there is no pause, or when the signal aborts. */
	async resumed(signal: AbortSignal): Promise<void> {
		while (this.#isPaused && !signal.aborted) await this.freed(signal);
	}

	/** Returns how many of `due` pods may be requested now. Their places stay taken until `answered` is called for as many. */
	ask(lane: string, due: number): number {
		if (this.#isPaused) return 0;
		const found = this.#of(lane);
		const free = sentAtOnce + grantedAhead - found.asked - found.granted;
		const places = free >= Math.min(due, worthARound) ? Math.min(free, due) : 0;
		found.asked += places;
		return places;
	}

	/** Frees the places that a round took, because it is over. Pods that may be evicted have places of their own by now. */
	answered(lane: string, places: number): void {
		this.#of(lane).asked -= places;
		this.#wake();
	}

	/** Takes a place for a pod that may be evicted. A pod that waits takes one only during a round (ask()), so it blocks no other pod. */
	keep(lane: string): Place {
		const found = this.#of(lane);
		found.granted += 1;
		let hasTurn = false;
		return {
			async turn(over) {
				return (hasTurn = await found.sending.take(over));
			},
			end: () => {
				if (hasTurn) found.sending.release();
				found.granted -= 1;
				this.#wake();
			},
		};
	}

	/** Resolves when more pods may be granted in any lane, or when the signal aborts. */
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

/** Tracks places until they are ended, and other work that must be awaited. */
export class PlacesInUse {
	readonly #places: Places;
	readonly #underWay = new Set<Promise<void>>();

	constructor(places: Places) {
		this.#places = places;
	}

	/** Takes the place immediately, not when its turn comes. */
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

	/** Resolves when everything that is tracked at the call has ended. */
	async settled(): Promise<void> {
		await Promise.all(this.#underWay);
	}
}
