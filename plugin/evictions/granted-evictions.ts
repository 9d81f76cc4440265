// The evictions that rounds allowed, on their way while the next round goes on: each is sent when there is a place for it.
import type { ConcurrencyLimit } from "./concurrency-limit.ts";
import type { TryOutcome } from "./try-outcome.ts";
import type { WaitingPod } from "./waiting-pod.ts";

export class GrantedEvictions {
	readonly #limit: ConcurrencyLimit;
	/** Tickets being used or given back. */
	readonly #underWay = new Set<Promise<void>>();

	constructor(limit: ConcurrencyLimit) {
		this.#limit = limit;
	}

	/**
	 * Sends when there is a place for it; `giveUp` where a stop, a pause or a timeout was first. Once it is sent only the answer counts:
	 * it can't be taken back.
	 */
	send(pod: WaitingPod, evict: () => Promise<TryOutcome>, giveUp?: () => Promise<void>): void {
		this.keepTrack(this.#send(pod, evict, giveUp));
	}

	/** Of work that a run must not end without. */
	keepTrack(work: Promise<void>): void {
		const tracked = work.finally(() => this.#underWay.delete(tracked));
		this.#underWay.add(tracked);
	}

	/** Resolves when those that are under way now have ended. */
	async settled(): Promise<void> {
		await Promise.all(this.#underWay);
	}

	async #send(pod: WaitingPod, evict: () => Promise<TryOutcome>, giveUp?: () => Promise<void>): Promise<void> {
		const { name } = pod.job.context;
		const mayGo = await this.#limit.take(name, pod.over);
		if (mayGo) await pod.job.hold?.confirm(pod.over);
		if (pod.over.aborted || this.#limit.isPaused) {
			if (mayGo) this.#limit.giveBack(name);
			await giveUp?.();
			// It asks anew when the run goes on.
			if (!pod.over.aborted) pod.finish({ kind: "again", afterMs: 0 });
			return;
		}
		pod.detach();
		try {
			pod.finish(await evict());
		} catch (error) {
			pod.fail(error);
		} finally {
			this.#limit.giveBack(name);
		}
	}
}
