// A fleet that changes while a run goes on: its members are asked anew who they are, by all who doubt it together, and the
// person is told once of each change. While members disagree nothing is evicted.
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
} from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink } from "../events/events.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import type { Fleet } from "./fleet.ts";

export type FleetAnswer =
	/** On one fleet, the same or another one. */
	| { readonly kind: "agreed" }
	| { readonly kind: "differ"; readonly message: string }
	/** An agent does not understand us, or does not let us. */
	| { readonly kind: "refused"; readonly message: string }
	| { readonly kind: "unreachable"; readonly error: AgentUnavailableError };

export class FleetChanges {
	readonly #fleet: Pick<Fleet, "members" | "reconnect">;
	readonly #emit: EventSink;
	readonly #onChanged: () => void;
	#asking: Promise<FleetAnswer> | undefined;

	constructor(fleet: Pick<Fleet, "members" | "reconnect">, emit: EventSink, onChanged: () => void) {
		this.#fleet = fleet;
		this.#emit = emit;
		this.#onChanged = onChanged;
	}

	async ask(): Promise<FleetAnswer> {
		this.#asking ??= this.#ask().finally(() => {
			this.#asking = undefined;
		});
		return this.#asking;
	}

	async #ask(): Promise<FleetAnswer> {
		const before = this.#fleet.members;
		try {
			await this.#fleet.reconnect();
		} catch (error) {
			if (error instanceof AgentUnavailableError) return { kind: "unreachable", error };
			if (error instanceof FleetUncoveredError) return { kind: "differ", message: error.details.join("; ") };
			if (error instanceof AgentForbiddenError || error instanceof AgentProtocolError) {
				return { kind: "refused", message: error.message };
			}
			if (error instanceof FleetsDifferError || error instanceof GarbledLeaseError) {
				return { kind: "differ", message: error.message };
			}
			throw error;
		}
		const change = describeChange(before, this.#fleet.members);
		if (change !== undefined) {
			this.#emit({ type: "diagnostic", level: "warning", reason: "FleetsDiffer", message: change });
			this.#onChanged();
		}
		return { kind: "agreed" };
	}
}

function describeChange(before: readonly AgentCluster[], after: readonly AgentCluster[]): string | undefined {
	const missingIn = (others: readonly AgentCluster[], members: readonly AgentCluster[]): string =>
		members
			.filter(({ id }) => !others.some((other) => other.id === id))
			.map(({ name }) => name)
			.join(", ");
	const added = missingIn(before, after);
	const removed = missingIn(after, before);
	if (added === "" && removed === "") return undefined;
	const changes = [
		...(added === "" ? [] : [`${added} was added`]),
		...(removed === "" ? [] : [`${removed} was removed`]),
	];
	return `the fleet has changed: ${changes.join(", ")}; going on with ${after.map(({ name }) => name).join(", ")}`;
}
