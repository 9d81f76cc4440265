// What a call wrote in the clusters, by their audit logs: for what must write nothing.
import { readTimeline } from "../../demo/audit/audit.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import type { Database } from "./database.ts";
import { getJson, leasesPath } from "./get-json.ts";

/** What every call makes, whatever it is for. */
const ways = [
	"serviceaccounts/token",
	"pods/portforward",
	"tokenreviews",
	// Questions that are posted, of whoever asks and about himself.
	"subjectaccessreviews",
	"selfsubjectaccessreviews",
	"selfsubjectreviews",
];

/**
 * What people of the operators and the agents wrote since an instant (microseconds), dry runs left out; and without what
 * agents do to Leases that other tests have left behind, and to the pods in them: see leasesOf() for one's own.
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

/** Leases of the database's budgets, which the first acquire would make. */
export async function leasesOf(database: Database): Promise<readonly unknown[]> {
	const selector = `xpdb.form3.tech/budget-namespace=${database.namespace}`;
	const lists = await Promise.all(
		sharedFleet().contexts.map((context) =>
			getJson<{ readonly items: readonly unknown[] }>(context, leasesPath(selector)),
		),
	);
	return lists.flatMap(({ items }) => items);
}
