// Binds a grant to the version of its pod that will be evicted.
//
// Guarantee: a grant is bound only to a version that came from the API server. This version has the very labels that were counted, and no
// pre-activity. After the version was read, `committedAfter` confirmed that the grant stands for it. A reservation that ends touches its
// pod first, so an eviction of an older version gets a 409. With other labels, other budgets may cover the pod.
// Assumption: `read` is a consistent read of this very pod.
import type { Ticket } from "./ticket.ts";

export type FoundPod =
	| { readonly kind: "gone" }
	| { readonly kind: "terminating" }
	| {
			readonly kind: "present";
			readonly resourceVersion: string;
			readonly labels: Readonly<Record<string, string>>;
			/** Names of the pre-activities that this pod has to wait for. */
			readonly preActivities: readonly string[];
	  };

export type BoundVersion =
	| { readonly kind: "gone" }
	| { readonly kind: "terminating" }
	/** The grant can no longer be used. */
	| { readonly kind: "lost"; readonly why: string }
	| { readonly kind: "bound"; readonly resourceVersion: string };

/** `committedAfter` returns why the grant does not stand for the version that was read, or undefined if it stands. */
export async function bindToVersion(
	ticket: Pick<Ticket, "labels">,
	read: () => Promise<FoundPod>,
	committedAfter: (version: Extract<FoundPod, { kind: "present" }>) => Promise<string | undefined>,
): Promise<BoundVersion> {
	const found = await read();
	if (found.kind !== "present") return { kind: found.kind };
	if (!sameLabels(found.labels, ticket.labels)) return { kind: "lost", why: "got other labels" };
	const [preActivity] = found.preActivities;
	if (preActivity !== undefined) return { kind: "lost", why: `got the pre-activity ${preActivity}` };
	const why = await committedAfter(found);
	return why === undefined ? { kind: "bound", resourceVersion: found.resourceVersion } : { kind: "lost", why };
}

function sameLabels(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
	const keys = Object.keys(a);
	return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
