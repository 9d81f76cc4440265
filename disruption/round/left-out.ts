// Pods that were judged grantable, and to which their own cluster's agent gave no reservation when it was to be written.
import type { CommitOutcome, LeftOut, PodReference } from "../budget/cluster.ts";
import type { Waiting } from "../budget/verdict.ts";

/** By leftOutKey. */
export type LeftOutPods = ReadonlyMap<string, LeftOut>;

export function leftOutKey(clusterId: string, { uid }: Pick<PodReference, "uid">): string {
	return `${clusterId} ${uid}`;
}

/** Those that any of these commits left out. */
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

/** It is asked for again: the next count says what became of it. */
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
