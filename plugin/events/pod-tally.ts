// Counts the pods of a run by state, from its events.
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
	readonly #waits = new Map<string, WaitEvent>();
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

	/** Makes `total` at least this number. */
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

	/** Newest first: older events of a budget name older blockers. */
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

/** Includes the uid, because a pod's name may be reused. */
export function podKey({ context, namespace, pod, uid = "" }: PodEvent): string {
	return `pod ${context} ${namespace}/${pod} ${uid}`;
}
