// Finds pods that workloads want but that are not counted: they are gone, were never created, or have labels that the budget does not
// select. They use up a budget as unhealthy pods do, but agents do not report them one by one.
import { mostUnavailableTold } from "../../disruption/budget/cluster.ts";
import { counted } from "../terminal/counted.ts";
import type { BudgetRow, CountsOfMember } from "./budget-table.ts";

export interface MissingPods {
	readonly cluster: string;
	readonly pods: number;
	/** Whether the pods exist but have labels that the budget does not select. No controller creates others. */
	readonly mislabelled?: boolean;
}

export function missingPods({ perCluster, usedBy }: Pick<BudgetRow, "perCluster" | "usedBy">): readonly MissingPods[] {
	return [...perCluster].flatMap(([cluster, counts]): readonly MissingPods[] => {
		const told = usedBy.filter((pod) => pod.cluster === cluster);
		const all = missingBeside(counts, told);
		const mislabelled = Math.min(all, counts.mislabelled ?? 0);
		return [
			...(all > mislabelled ? [{ cluster, pods: all - mislabelled }] : []),
			...(mislabelled > 0 ? [{ cluster, pods: mislabelled, mislabelled: true } as const] : []),
		];
	});
}

type Counted = Partial<Pick<CountsOfMember, "healthy" | "expected">>;

/** Returns how many pods are missing besides the reported unavailable ones; 0 if the number is unknown. */
export function missingBeside({ healthy, expected }: Counted, told: readonly { readonly cluster: string }[]): number {
	if (healthy === undefined || expected === undefined) return 0;
	const byCluster = Map.groupBy(told, ({ cluster }) => cluster);
	if ([...byCluster.values()].some((pods) => pods.length >= mostUnavailableTold)) return 0;
	return Math.max(0, expected - healthy - told.length);
}

export function missingCount(missing: readonly MissingPods[]): number {
	return missing.reduce((sum, { pods }) => sum + pods, 0);
}

/** Returns, for example, "1 pod missing". */
export function missingText({ pods, mislabelled = false }: Omit<MissingPods, "cluster">): string {
	return `${counted(pods, "pod")} ${mislabelled ? "with other labels" : "missing"}`;
}

export function whenMissingFrees({ pods, mislabelled = false }: Omit<MissingPods, "cluster">): string {
	if (mislabelled) {
		const [it, has] = pods === 1 ? ["it", "it has"] : ["them", "they have"];
		return `the budget expects ${it} and does not select ${it}: frees when ${has} the labels of the pod template`;
	}
	return pods === 1
		? "its controller wants it, and it is not there: frees when it is made and ready"
		: "their controllers want them, and they are not there: frees when they are made and ready";
}
