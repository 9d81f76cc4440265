// The pods that wait for a grant under the same budgets, of every node and every cluster, in the order of their turns.
import type { WaitingPod } from "./waiting-pod.ts";

export class EvictionQueue {
	/** By the pod's uid. */
	readonly #waiting = new Map<string, WaitingPod>();
	#arrival = new AbortController();

	get size(): number {
		return this.#waiting.size;
	}

	/** It leaves by itself when its try has ended. */
	add(pod: WaitingPod): void {
		const { uid } = pod.job.pod;
		this.#waiting.set(uid, pod);
		const leave = (): void => {
			if (this.has(pod)) this.#waiting.delete(uid);
		};
		pod.over.addEventListener("abort", leave, { once: true });
		// With a reason: without one each abort makes an Error with its stack, for nobody.
		this.#arrival.abort("another pod came");
	}

	/** Aborts when another pod comes. */
	nextArrival(): AbortSignal {
		this.#arrival = new AbortController();
		return this.#arrival.signal;
	}

	all(): readonly WaitingPod[] {
		return [...this.#waiting.values()];
	}

	find(uid: string): WaitingPod | undefined {
		return this.#waiting.get(uid);
	}

	has(pod: WaitingPod): boolean {
		return this.#waiting.get(pod.job.pod.uid) === pod;
	}

	/** It does not wait for a grant any more. */
	remove(pod: WaitingPod): void {
		this.#waiting.delete(pod.job.pod.uid);
	}

	due(now: number): readonly WaitingPod[] {
		return this.all().filter(({ dueAt }) => dueAt <= now);
	}

	/** When the first of those that are not due will be; none where all of them are. */
	nextDueAt(now: number): number | undefined {
		const later = this.all()
			.map(({ dueAt }) => dueAt)
			.filter((dueAt) => dueAt > now);
		return later.length > 0 ? Math.min(...later) : undefined;
	}

	/** So that more pods than a round takes have their turn in the next one. */
	sendToTheEnd(pods: readonly WaitingPod[]): void {
		for (const pod of pods) {
			const { uid } = pod.job.pod;
			if (this.#waiting.delete(uid)) this.#waiting.set(uid, pod);
		}
	}

	fail(error: unknown): void {
		for (const pod of this.#waiting.values()) pod.fail(error);
	}
}
