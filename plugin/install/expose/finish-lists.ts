// Completes the lists of members with addresses that were unknown when the installation was planned.
import { objectText } from "../cluster-object.ts";
import { type ClusterChanges, changeOf, type ObjectChange } from "../find-changes.ts";
import { fleetListObject } from "../fleet-objects.ts";
import { keptHint } from "../kept-fields.ts";
import { refuseInvalid } from "../plan-members.ts";
import type { PlannedFleet } from "../planned-fleet.ts";
import { UsageError } from "../../terminal/errors.ts";

/** Returns the changes by context. `addresses`: HOST:PORT by member id. Throws UsageError. */
export async function finishLists(
	fleet: readonly ClusterChanges[],
	{ members, forgotten }: Pick<PlannedFleet, "members" | "forgotten">,
	{ addresses, force }: { readonly addresses: ReadonlyMap<string, string>; readonly force: boolean },
): Promise<ReadonlyMap<string, ObjectChange>> {
	const finished = members.map((member) => {
		const address = addresses.get(member.id);
		return address === undefined ? member : { ...member, address };
	});
	refuseInvalid({ members: finished, forgotten });
	const changes = await Promise.all(
		fleet.map(async ({ cluster: { found } }) => {
			const { context } = found;
			const object = fleetListObject({ agentNamespace: context.agents.namespace, members: finished, forgotten });
			const change = await changeOf(context, object, force);
			if (change.kind === "kept") {
				throw new UsageError(
					`${context.name}: fields of ${objectText(object)} are managed by others: ${change.conflicts.join(", ")}`,
					keptHint([change]),
				);
			}
			return [context.name, change] as const;
		}),
	);
	return new Map(changes);
}
