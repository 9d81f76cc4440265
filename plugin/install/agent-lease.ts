// Recognises the Leases that the agents keep in a namespace.
import { agentName, managedByLabel } from "../../disruption/agent-names.ts";
import { namespaceLabel } from "../../disruption/lease/lease.ts";

/** A budget's Lease has both labels. The Lease of the known members has only the namespace label. */
export function isAgentLease({
	name = "",
	labels = {},
}: {
	readonly name?: string;
	readonly labels?: Readonly<Record<string, string>>;
}): boolean {
	return name.startsWith("xpdb-") && (labels[managedByLabel] === agentName || namespaceLabel in labels);
}
