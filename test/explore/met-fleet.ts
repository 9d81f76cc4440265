// Discovers the fleet of a simulated plugin process with the shipped code, over simulated connections.
import { type Fleet, assembleFleet } from "../../plugin/fleet/fleet.ts";
import { meet } from "../../plugin/fleet/meeting.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import { namespace } from "./workload.ts";

export interface MeetingOptions {
	/** At least one. */
	readonly contexts: readonly KubeContext[];
	readonly clientOf: (context: KubeContext) => AgentServiceClient;
	readonly memberIds: (clusterId: string) => readonly string[];
	readonly bug: (error: Error) => void;
}

/** Does what connectFleet() does after it has dialed. */
export async function meetFleet({ contexts, clientOf, memberIds, bug }: MeetingOptions): Promise<Fleet> {
	const question = { budgetsOf: [namespace], others: contexts.length === 1 };
	const listed = new Set(contexts.flatMap(({ name }) => memberIds(name)));
	const before = new Map([...listed].map((id) => [id, memberIds(id)]));
	const declaredBefore = (id: string): readonly string[] => before.get(id) ?? [];
	const accesses = await Promise.all(
		contexts.map(async (context) => {
			const client = clientOf(context);
			const meeting = await meet(client, { name: context.name, dialer: { problem: undefined }, question });
			const unused = (): undefined => undefined;
			return { kind: "reached", context, client, ...meeting, namespaces: [], leave: unused, close: unused } as const;
		}),
	);
	const fleet = await assembleFleet(accesses, { namespaces: [namespace] });
	judgeMet(fleet, [declaredBefore, memberIds], bug);
	return fleet;
}

/** Checks that all members of the fleet have answered, and that they agreed on this fleet before or after the meeting. */
function judgeMet(
	{ members, descriptions }: Fleet,
	declared: readonly ((id: string) => readonly string[])[],
	bug: (error: Error) => void,
): void {
	const ids = members.map(({ id }) => id);
	const text = ids.toSorted().join(" ");
	const silent = ids.find((id) => !descriptions.has(id));
	if (silent !== undefined) bug(new Error(`it begins with a fleet of which ${silent} has not answered`));
	const agreed = declared.some((by) => ids.every((id) => by(id).toSorted().join(" ") === text));
	if (!agreed) bug(new Error(`it begins with the fleet ${text}, on which its members do not agree`));
}
