// Finds the writes of a command in the clusters' audit logs, to test commands that must write nothing.
import { readTimeline } from "../../demo/audit/audit.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import type { Database } from "./database.ts";
import { getJson, leasesPath } from "./get-json.ts";

/** Requests that reach agents or check rights, and store nothing. */
const ways = [
	"serviceaccounts/token",
	"pods/portforward",
	"tokenreviews",
	"subjectaccessreviews",
	"selfsubjectaccessreviews",
	"selfsubjectreviews",
];

/**
 * Returns the writes of operators and agents since an instant (microseconds), to cluster-wide objects, in the agents' namespace and in the
 * database's.
 * Leaves out dry runs, `ways`, and the agents' changes to existing Leases, which may be of other tests.
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

/** Returns the Leases of the database's budgets, which the first acquire creates. */
export async function leasesOf(database: Database): Promise<readonly unknown[]> {
	const selector = `xpdb.form3.tech/budget-namespace=${database.namespace}`;
	const lists = await Promise.all(
		sharedFleet().contexts.map((context) =>
			getJson<{ readonly items: readonly unknown[] }>(context, leasesPath(selector)),
		),
	);
	return lists.flatMap(({ items }) => items);
}
