// Asks agents which members they heard from recently, and which known clusters their lists lack. Agents that cannot be asked are left out.
import type { ForgottenMember } from "../../disruption/budget/fleet.ts";
import { accessAgents } from "../fleet/agent-access.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

/** Two intervals between greetings, and the time that greetings may take. */
const latelyMs = 75_000;

export interface HeardLately {
	/** By cluster id: the shortest time since an agent heard from it, if at most `latelyMs`. */
	readonly agoMs: ReadonlyMap<string, number>;
	/** Clusters that agents know, but that their lists neither contain nor forget. */
	readonly missed: readonly ForgottenMember[];
}

export async function heardLately(contexts: readonly KubeContext[]): Promise<HeardLately> {
	const accesses = await Promise.all(contexts.map((context) => accessAgents(context)));
	const agoMs = new Map<string, number>();
	const missed: ForgottenMember[] = [];
	for (const access of accesses) {
		if (access.kind !== "reached") continue;
		access.close();
		for (const { id, agoMs: ago } of access.description.heard ?? []) {
			if (ago <= latelyMs) agoMs.set(id, Math.min(ago, agoMs.get(id) ?? Number.POSITIVE_INFINITY));
		}
		missed.push(...(access.description.unresolved ?? []));
	}
	return { agoMs, missed };
}
