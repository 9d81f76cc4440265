// Warns about agents that can let a budget break. The run continues, because upgrading the agents may need drains.
import type { EventSink } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { isUnsafeAgent } from "../fleet/unsafe-agents.ts";
import { factsOf } from "../check/check-reason.ts";

/** Call the returned function whenever the members are read. It names each cluster once. */
export function warnOfUnsafeAgents(emit: EventSink): (fleet: Pick<Fleet, "members" | "descriptions">) => void {
	const named = new Set<string>();
	return ({ members, descriptions }) => {
		const unsafe = members.flatMap(({ id, name }) => {
			const version = descriptions.get(id)?.version ?? "";
			if (named.has(id) || !isUnsafeAgent(version)) return [];
			named.add(id);
			return [`${name} (${version})`];
		});
		if (unsafe.length === 0) return;
		const message =
			"agents older than version 0.2 can allow more disruptions than a budget permits, in every cluster of the fleet: " +
			`upgrade the agents of ${unsafe.join(", ")} (${factsOf("AgentUnsafe").code})`;
		emit({ type: "diagnostic", level: "warning", message });
	};
}
