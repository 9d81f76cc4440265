// Pods that their controllers want and that are not there: gone and not made again, or never made. They use a budget up as those do that are
// not healthy, and nobody can name them.
import { mostUnavailableTold } from "../../disruption/cluster.ts";
import { counted } from "../terminal/counted.ts";
import type { BudgetRow } from "./budget-table.ts";

/** Of one member. */
export interface MissingPods {
	readonly cluster: string;
	readonly pods: number;
}

export function missingPods({ perCluster, usedBy }: Pick<BudgetRow, "perCluster" | "usedBy">): readonly MissingPods[] {
	return [...perCluster].flatMap(([cluster, { healthy, expected }]) => {
		const pods = missingBeside(
			{ healthy, expected },
			usedBy.filter((pod) => pod.cluster === cluster),
		);
		return pods > 0 ? [{ cluster, pods }] : [];
	});
}

interface Counted {
	readonly healthy?: number | undefined;
	readonly expected?: number | undefined;
}

/** How many, where these are those that are there and use the budget up; 0 also where nobody knows it. */
export function missingBeside({ healthy, expected }: Counted, told: readonly { readonly cluster: string }[]): number {
	if (healthy === undefined || expected === undefined) return 0;
	const byCluster = Map.groupBy(told, ({ cluster }) => cluster);
	if ([...byCluster.values()].some((pods) => pods.length >= mostUnavailableTold)) return 0;
	return Math.max(0, expected - healthy - told.length);
}

export function missingCount(missing: readonly MissingPods[]): number {
	return missing.reduce((sum, { pods }) => sum + pods, 0);
}

/** "1 pod missing" */
export function missingText({ pods }: Pick<MissingPods, "pods">): string {
	return `${counted(pods, "pod")} missing`;
}

/** When a budget has them back. */
export function whenMissingFrees({ pods }: Pick<MissingPods, "pods">): string {
	return pods === 1
		? "its controller wants it, and it is not there: frees when it is made and ready"
		: "their controllers want them, and they are not there: frees when they are made and ready";
}
