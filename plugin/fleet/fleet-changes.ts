// Handles a fleet that changes during a run. All callers in doubt share one new question to the members about who they are. The user is
// told once of each change. While members disagree, nothing is evicted.
import { classifyFailure, type Failure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink } from "../events/events.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import type { Fleet } from "./fleet.ts";

export type FleetAnswer =
	/** All members agree on the fleet, and it is the one that the caller had. */
	| { readonly kind: "same" }
	/** The members agree on a fleet other than the caller's. `members` of the fleet are already the new ones. */
	| { readonly kind: "changed" }
	| FleetDoubt;

/** Why the members of the fleet are unknown. */
export type FleetDoubt =
	| { readonly kind: "differ"; readonly message: string }
	/** An agent does not support our request, or does not permit it. */
	| { readonly kind: "refused"; readonly message: string }
	| { readonly kind: "unreachable"; readonly error: AgentUnavailableError; readonly failure: Failure };

export class FleetChanges {
	readonly #fleet: Pick<Fleet, "members" | "reconnect">;
	readonly #emit: EventSink;
	readonly #onChanged: () => void;
	#asking: Promise<FleetDoubt | undefined> | undefined;

	constructor(fleet: Pick<Fleet, "members" | "reconnect">, emit: EventSink, onChanged: () => void) {
		this.#fleet = fleet;
		this.#emit = emit;
		this.#onChanged = onChanged;
	}

	/** `asked`: the members whose answers are in doubt. */
	async ask(asked: Fleet["members"]): Promise<FleetAnswer> {
		this.#asking ??= this.#ask().finally(() => {
			this.#asking = undefined;
		});
		const doubt = await this.#asking;
		return doubt ?? { kind: hasSameIds(asked, this.#fleet.members) ? "same" : "changed" };
	}

	async #ask(): Promise<FleetDoubt | undefined> {
		const before = this.#fleet.members;
		try {
			await this.#fleet.reconnect();
		} catch (error) {
			if (error instanceof FleetUncoveredError) return { kind: "differ", message: error.details.join("; ") };
			const failure = classifyFailure(error);
			if (!failure) throw error;
			if (error instanceof AgentUnavailableError) return { kind: "unreachable", error, failure };
			return { kind: failure.reason === "AgentRefused" ? "refused" : "differ", message: failure.message };
		}
		const change = describeChange(before, this.#fleet.members);
		if (change !== undefined) {
			this.#emit({ type: "diagnostic", level: "warning", reason: "FleetsDiffer", message: change });
			this.#onChanged();
		}
		return undefined;
	}
}

function hasSameIds(some: readonly AgentCluster[], others: readonly AgentCluster[]): boolean {
	return some.length === others.length && some.every(({ id }, index) => id === others[index]?.id);
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
