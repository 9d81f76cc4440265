// Asks agents which members they heard from recently, and which known clusters their lists lack. Agents that cannot be asked are left out.
import type { ForgottenMember } from "../../disruption/budget/fleet.ts";
import { greetingRoundMs } from "../../proto/greeting-round.ts";
import { accessAgents } from "../fleet/agent-access.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

/** The time that the greetings of one pass may take. */
const passMs = 15_000;

export interface HeardLately {
	/** By cluster id: the shortest time since an agent heard from it, if that is at most as long as two rounds of greetings take. */
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
		const latelyMs = 2 * greetingRoundMs(access.description.members.length - 1) + passMs;
		for (const { id, agoMs: ago } of access.description.heard ?? []) {
			if (ago <= latelyMs) agoMs.set(id, Math.min(ago, agoMs.get(id) ?? Number.POSITIVE_INFINITY));
		}
		missed.push(...(access.description.unresolved ?? []));
	}
	return { agoMs, missed };
}
