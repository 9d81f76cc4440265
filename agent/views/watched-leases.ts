// Reads the Leases of a namespace from the watch, if it has reached the version that the caller requires. The API server would answer such
// a list from a cache that is fed by the same events. If the watch does not get there soon, or no version is required, the API server is
// asked.
import { budgetAnnotation, namespaceLabel } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { LeaseView } from "./object-views.ts";

export function withWatchedLeases(api: ClusterApi, leases: Pick<LeaseView, "leases" | "reached">): ClusterApi {
	return {
		...api,
		async listLeases(options) {
			const { budgetNamespace, notOlderThan } = options;
			// A list that names no version must be consistent.
			if (notOlderThan === "" || !(await leases.reached(notOlderThan))) return api.listLeases(options);
			return [...leases.leases()].filter((lease) => mayBeOf(budgetNamespace, lease));
		},
	};
}

/**
 * Whether the Lease belongs to the namespace. An unreadable Lease blocks the counts of the namespace that it names, or of all namespaces if
 * it names none.
 */
function mayBeOf(namespace: string, { labels, annotations, unreadable }: LeaseObject): boolean {
	if (unreadable === undefined) return labels[namespaceLabel] === namespace;
	const named = [labels[namespaceLabel], annotations[budgetAnnotation]?.split("/")[0]];
	return named.includes(namespace) || named.every((each) => each === undefined);
}
