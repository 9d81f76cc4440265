// Handles a fleet that changes during a run. Concurrent callers share one new question to the members, and the user is told once of each
// change. While members disagree, ask() returns a failure, on which its callers evict nothing.
import { askAgainAfterMs, classifyFailure, type Failure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink } from "../events/events.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import type { Fleet } from "./fleet.ts";

export class FleetChanges {
	readonly #fleet: Pick<Fleet, "members" | "reconnect">;
	readonly #emit: EventSink;
	readonly #onChanged: () => void;
	#asking: Promise<Failure | undefined> | undefined;

	constructor(fleet: Pick<Fleet, "members" | "reconnect">, emit: EventSink, onChanged: () => void) {
		this.#fleet = fleet;
		this.#emit = emit;
		this.#onChanged = onChanged;
	}

	/**
	 * Asks the agents again which members there are. `asked`: the members whose answers are in doubt. Returns "same" if all members agree
	 * on these, and "changed" if the fleet has new `members` on which all agree. Otherwise returns a failure: FleetsDiffer, or AgentRefused
	 * if an agent does not support or permit the question. Rejects with AgentUnavailableError if a member gave no answer.
	 */
	async ask(asked: Fleet["members"]): Promise<"same" | "changed" | Failure> {
		this.#asking ??= this.#ask().finally(() => {
			this.#asking = undefined;
		});
		const doubt = await this.#asking;
		return doubt ?? (hasSameIds(asked, this.#fleet.members) ? "same" : "changed");
	}

	async #ask(): Promise<Failure | undefined> {
		const before = this.#fleet.members;
		try {
			await this.#fleet.reconnect();
		} catch (error) {
			const differ = (message: string): Failure => {
				return { kind: "retry", reason: "FleetsDiffer", message, afterMs: askAgainAfterMs };
			};
			if (error instanceof FleetUncoveredError) return differ(error.details.join("; "));
			const failure = classifyFailure(error);
			if (!failure || error instanceof AgentUnavailableError) throw error;
			return failure.reason === "AgentRefused" ? failure : differ(failure.message);
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
