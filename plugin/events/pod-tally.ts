// How many pods of a run are where: folded from its events, for the progress line, for -o json and for the screen alike.
import type { PodEvent, RunEvent } from "./events.ts";

export type PodState = "evicting" | "waiting" | "terminating" | "gone" | "skipped" | "failed" | "stopped";

export interface PodCounts {
	/** Gone or skipped. */
	readonly done: number;
	readonly total: number;
	readonly terminating: number;
	readonly waiting: number;
	readonly failed: number;
}

export type WaitEvent = Extract<RunEvent, { type: "pod.waiting" | "pod.retrying" }>;

type PodRunEvent = Extract<RunEvent, PodEvent>;

const stateAfter: Readonly<Record<PodRunEvent["type"], PodState>> = {
	"pod.evicting": "evicting",
	"pod.waiting": "waiting",
	"pod.retrying": "waiting",
	"pod.accepted": "terminating",
	"pod.evicted": "gone",
	"pod.gone": "gone",
	"pod.stopped": "stopped",
	"pod.skipped": "skipped",
	"pod.failed": "failed",
};

export class PodTally {
	readonly #states = new Map<string, PodState>();
	/** What each waiting pod was told last. */
	readonly #waits = new Map<string, WaitEvent>();
	/** By node: how many pods go. */
	readonly #ofNodes = new Map<string, number>();
	#announced = 0;

	see(event: RunEvent): void {
		if ("pod" in event) return this.#take(event);
		if (event.type === "run.started") return this.expect(event.pods.length);
		if (event.type === "node.draining") this.#ofNodes.set(`${event.context} ${event.node}`, event.pods);
		if (event.type !== "plan") return;
		this.expect(event.pods);
		for (const { context, node, pods } of event.perNode) this.#ofNodes.set(`${context} ${node}`, pods);
	}

	/** The run takes at least so many pods. */
	expect(pods: number): void {
		this.#announced = Math.max(this.#announced, pods);
	}

	get counts(): PodCounts {
		const count = (state: PodState): number => [...this.#states.values()].filter((each) => each === state).length;
		const ofNodes = [...this.#ofNodes.values()].reduce((sum, pods) => sum + pods, 0);
		return {
			done: count("gone") + count("skipped"),
			total: Math.max(this.#states.size, ofNodes, this.#announced),
			terminating: count("terminating"),
			waiting: count("waiting"),
			failed: count("failed"),
		};
	}

	/** The newest first: pods that wait for the same budget were told of other pods before. */
	get waits(): readonly WaitEvent[] {
		return [...this.#waits.values()].toReversed();
	}

	#take(event: PodRunEvent): void {
		const key = podKey(event);
		this.#states.set(key, stateAfter[event.type]);
		this.#waits.delete(key);
		if (event.type === "pod.waiting" || event.type === "pod.retrying") this.#waits.set(key, event);
	}
}

/** A pod's name alone may come again. */
export function podKey({ context, namespace, pod, uid = "" }: PodEvent): string {
	return `pod ${context} ${namespace}/${pod} ${uid}`;
}
