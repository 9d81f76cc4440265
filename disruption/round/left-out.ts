// Finds the pods that were judged grantable but got no reservation, because their own agent left them out of the commit.
import type { CommitOutcome, LeftOut, PodReference } from "../budget/cluster.ts";
import type { Waiting } from "../budget/verdict.ts";

/** The keys come from leftOutKey(). */
export type LeftOutPods = ReadonlyMap<string, LeftOut>;

export function leftOutKey(clusterId: string, { uid }: Pick<PodReference, "uid">): string {
	return `${clusterId} ${uid}`;
}

export function leftOutPods(
	commits: readonly {
		readonly clusterId: string;
		readonly outcome: CommitOutcome | { readonly kind: "failed" };
	}[],
): LeftOutPods {
	const found = new Map<string, LeftOut>();
	for (const { clusterId, outcome } of commits) {
		if (outcome.kind !== "stood") continue;
		for (const pod of outcome.leftOut ?? []) found.set(leftOutKey(clusterId, pod), pod);
	}
	return found;
}

/** The caller requests the pod again, and the next count shows what happened to it. */
export function waitingFor({ namespace, name }: PodReference, { why }: LeftOut): Waiting {
	const pod = `pod ${namespace}/${name}`;
	return why === "Gone"
		? { kind: "waiting", reason: "PodUnseen", message: `${pod} went away while it was being granted`, usedBy: [] }
		: {
				kind: "waiting",
				reason: "CoverageChanged",
				message: `${pod} is not selected any more by a budget under which it was being granted`,
				usedBy: [],
			};
}
