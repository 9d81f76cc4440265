// Which Leases of a namespace the agents keep.
import { agentName, managedByLabel } from "../../disruption/agent-names.ts";
import { namespaceLabel } from "../../disruption/lease/lease.ts";

/** That of a budget has both labels, that of the members whom the cluster knows has the second one alone. */
export function isAgentLease({
	name = "",
	labels = {},
}: {
	readonly name?: string;
	readonly labels?: Readonly<Record<string, string>>;
}): boolean {
	return name.startsWith("xpdb-") && (labels[managedByLabel] === agentName || namespaceLabel in labels);
}
