// Makes the rows that judge the clusters one by one.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { oldestMinor } from "../install/oldest-kubernetes.ts";
import { type CheckRow, type CheckTitle, checkRow, type ClusterCheck } from "./check-report.ts";
import { judgeServer } from "./judge-access.ts";
import type { ClusterFacts } from "./read-cluster.ts";

export interface AskedCluster {
	readonly context: KubeContext;
	readonly facts: ClusterFacts;
}

export async function clusterRow<T extends AskedCluster>(
	asked: readonly T[],
	title: CheckTitle,
	judge: (each: T) => Promise<ClusterCheck>,
): Promise<CheckRow> {
	const judged = new Map(await Promise.all(asked.map(async (each) => [each.context.name, await judge(each)] as const)));
	return checkRow(
		title,
		asked.map(({ context }) => context.name),
		(name) => judged.get(name),
	);
}

export async function accessRow(asked: readonly AskedCluster[]): Promise<CheckRow> {
	const title = { category: "access", title: `API server answers, >= 1.${oldestMinor}`, isNeeded: true } as const;
	return clusterRow(asked, title, async ({ context, facts }) =>
		judgeServer(await facts.version, await findSame(context.name, asked), context),
	);
}

/** Returns an earlier context that leads to the same cluster. */
async function findSame(name: string, asked: readonly AskedCluster[]): Promise<string | undefined> {
	const ids = await Promise.all(asked.map(async ({ context, facts }) => [context.name, await facts.id] as const));
	const own = ids.find(([context]) => context === name)?.[1];
	if (own?.kind !== "read" || own.value === "") return undefined;
	const [first] = ids.find(([, id]) => id.kind === "read" && id.value === own.value) ?? [];
	return first === name ? undefined : first;
}
