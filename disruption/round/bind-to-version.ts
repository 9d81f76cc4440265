// Binds a grant to the version of its pod that will be evicted.
//
// Guarantee: a grant is bound only to a version that came from the API server. This version has the very labels that were counted, because
// with other labels, other budgets may cover the pod. It has no pre-activity. After it was read, `committedAfter` confirmed that the grant
// stands for it. The fence touches a pod before it removes the reservation, so an eviction of an older version gets a 409.
// Assumption: `read` is a consistent read of this very pod.
import type { EvictionAnswer, Ticket } from "./ticket.ts";

/** The pod of a grant, as a read found it. If the pod is gone, the read returns undefined. */
export interface FoundPod {
	readonly isTerminating: boolean;
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	/** Names of the pre-activities that the pod waits for. */
	readonly preActivities: readonly string[];
}

/**
 * Returns the version to evict, or the answer that ends the grant. `conflict`: the grant can no longer be used. `committedAfter` returns
 * why the grant does not stand for the version that was read, or undefined if it stands.
 */
export async function bindToVersion(
	{ pod: { namespace, name }, labels }: Pick<Ticket, "pod" | "labels">,
	read: () => Promise<FoundPod | undefined>,
	committedAfter: (version: FoundPod) => Promise<string | undefined>,
): Promise<string | Extract<EvictionAnswer<never>, { kind: "accepted" | "gone" | "conflict" }>> {
	const lost = (why: string) =>
		({ kind: "conflict", message: `pod ${namespace}/${name} ${why} before it was evicted` }) as const;
	const found = await read();
	if (!found) return { kind: "gone" };
	if (found.isTerminating) return { kind: "accepted" };
	if (!sameLabels(found.labels, labels)) return lost("got other labels");
	const [preActivity] = found.preActivities;
	if (preActivity !== undefined) return lost(`got the pre-activity ${preActivity}`);
	const why = await committedAfter(found);
	return why === undefined ? found.resourceVersion : lost(why);
}

function sameLabels(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
	const keys = Object.keys(a);
	return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
