// Finds what a command wrote in the clusters, from their audit logs, to test commands that must write nothing.
import { readTimeline } from "../../demo/audit/audit.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import type { Database } from "./database.ts";
import { getJson, leasesPath } from "./get-json.ts";

/** Writes that any command makes on its way. */
const ways = [
	"serviceaccounts/token",
	"pods/portforward",
	"tokenreviews",
	// Reviews are posted like objects. The agents send them about callers, and callers about themselves.
	"subjectaccessreviews",
	"selfsubjectaccessreviews",
	"selfsubjectreviews",
];

/**
 * Returns what operators and agents wrote since an instant (microseconds) to cluster-wide objects, in the agents' namespace and in the
 * database's, without dry runs and `ways`. Also leaves out what agents change in existing Leases, because other tests leave Leases behind.
 * leasesOf() has the database's own Leases.
 */
export async function writesSince(since: number, { namespace: own }: Database): Promise<readonly string[]> {
	const events = await readTimeline(sharedFleet().clusters);
	return events
		.filter(({ receivedAt, resource, dryRun }) => receivedAt >= since && !ways.includes(resource) && !dryRun)
		.filter(({ groups }) => groups.includes("xpdb-operators") || groups.includes("system:serviceaccounts:xpdb-system"))
		.filter(({ namespace }) => ["", "xpdb-system", own].includes(namespace))
		.map(({ cluster, user, verb, resource, name }) => `${cluster}: ${user} ${verb} ${resource} ${name}`)
		.filter((write) => !/xpdb-agent (update|delete|patch) leases/.test(write));
}

/** Returns the Leases of the database's budgets. The first acquire would create them. */
export async function leasesOf(database: Database): Promise<readonly unknown[]> {
	const selector = `xpdb.form3.tech/budget-namespace=${database.namespace}`;
	const lists = await Promise.all(
		sharedFleet().contexts.map((context) =>
			getJson<{ readonly items: readonly unknown[] }>(context, leasesPath(selector)),
		),
	);
	return lists.flatMap(({ items }) => items);
}
