// What the agents of these clusters say of others: whom they have heard of a moment ago, and whom they miss. Only for people: who cannot be
// asked says nothing.
import type { ForgottenMember } from "../../disruption/budget/fleet.ts";
import { accessAgents } from "../fleet/agent-access.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

/** Two greetings, and what they may take. */
const latelyMs = 75_000;

export interface HeardLately {
	/** By cluster id, those whom somebody has heard of lately: the shortest time. */
	readonly agoMs: ReadonlyMap<string, number>;
	/** Whom they know as members, and their lists neither have nor forget. */
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
