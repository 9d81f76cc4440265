// Decides which pods of one queue in a planned drain may be evicted next.
import type { PlanNode, PlanPod, PlanQueue, PlanWait } from "./drain-plan.ts";

export interface PodTurn {
	readonly pod: PlanPod;
	readonly node: string;
	readonly waits: readonly PlanWait[];
}

interface OpenNode {
	readonly node: PlanNode;
	readonly after: string | undefined;
	nextGroup: number;
	readonly there: Set<PlanPod>;
}

export class DrainQueue {
	readonly #rest: PlanNode[];
	readonly #atOnce: number;
	readonly #open = new Set<OpenNode>();
	#lastDone: string | undefined;

	constructor({ nodes, atOnce }: PlanQueue) {
		this.#rest = [...nodes];
		this.#atOnce = atOnce;
	}

	begin(): readonly PodTurn[] {
		const begun: PodTurn[] = [];
		for (;;) {
			for (const open of this.#open) begun.push(...this.#beginGroups(open));
			const node = this.#open.size < this.#atOnce ? this.#rest.shift() : undefined;
			if (!node) return begun;
			this.#open.add({ node, after: this.#lastDone, nextGroup: 0, there: new Set() });
		}
	}

	/** Also called for a pod that can never be evicted. */
	gone(pod: PlanPod): void {
		for (const { there } of this.#open) there.delete(pod);
	}

	#beginGroups(open: OpenNode): readonly PodTurn[] {
		const { node, there } = open;
		if (there.size > 0) return [];
		const group = node.groups[open.nextGroup];
		if (!group) {
			this.#open.delete(open);
			this.#lastDone = node.name;
			return [];
		}
		const former = open.nextGroup > 0 ? node.groups[open.nextGroup - 1] : undefined;
		open.nextGroup += 1;
		for (const pod of group) there.add(pod);
		const waits: readonly PlanWait[] = former
			? [{ kind: "group", pods: former.map(({ candidate }) => candidate) }]
			: open.after === undefined
				? []
				: [{ kind: "node", name: open.after }];
		return group.map((pod) => ({ pod, node: node.name, waits }));
	}
}
