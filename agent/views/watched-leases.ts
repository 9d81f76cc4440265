// Leases of a namespace from the watch, where it has come as far as the question asks: the API server would answer such a list
// from a cache that is fed by the very same events. Where the watch does not get there soon, the API server is asked.
import { budgetAnnotation, namespaceLabel } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { LeaseView } from "./object-views.ts";

export function withWatchedLeases(api: ClusterApi, leases: Pick<LeaseView, "leases" | "reached">): ClusterApi {
	return {
		...api,
		async listLeases(options) {
			const { budgetNamespace, notOlderThan } = options;
			// A list that names no version has to be consistent.
			if (notOlderThan === "" || !(await leases.reached(notOlderThan))) return api.listLeases(options);
			return [...leases.leases()].filter((lease) => mayBeOf(budgetNamespace, lease));
		},
	};
}

/** One that cannot be read is in the way of whoever counts where it may belong: in every namespace, if it does not even say where. */
function mayBeOf(namespace: string, { labels, annotations, unreadable }: LeaseObject): boolean {
	if (unreadable === undefined) return labels[namespaceLabel] === namespace;
	const named = [labels[namespaceLabel], annotations[budgetAnnotation]?.split("/")[0]];
	return named.includes(namespace) || named.every((each) => each === undefined);
}
