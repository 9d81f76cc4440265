// Pods that their controllers want and that are not there: gone and not made again, or never made. They use a budget up as those do that are
// not healthy, and nobody can name them.
import type { BudgetRow } from "./budget-table.ts";

/** Of one member. */
export interface MissingPods {
	readonly cluster: string;
	readonly pods: number;
}

/** Agents tell so many of the pods that are not healthy at most (Count.unavailable): with more nobody knows whether one is not there at all. */
const mostTold = 20;

export function missingPods({ perCluster, usedBy }: Pick<BudgetRow, "perCluster" | "usedBy">): readonly MissingPods[] {
	return [...perCluster].flatMap(([cluster, { healthy, expected }]) => {
		const told = usedBy.filter((pod) => pod.cluster === cluster).length;
		if (healthy === undefined || expected === undefined || told >= mostTold) return [];
		const pods = expected - healthy - told;
		return pods > 0 ? [{ cluster, pods }] : [];
	});
}

export function missingCount(missing: readonly MissingPods[]): number {
	return missing.reduce((sum, { pods }) => sum + pods, 0);
}

/** "1 pod missing" */
export function missingText({ pods }: Pick<MissingPods, "pods">): string {
	return `${pods} ${pods === 1 ? "pod" : "pods"} missing`;
}

/** When a budget has them back. */
export function whenMissingFrees({ pods }: Pick<MissingPods, "pods">): string {
	return pods === 1
		? "its controller wants it, and it is not there: frees when it is made and ready"
		: "their controllers want them, and they are not there: frees when they are made and ready";
}
