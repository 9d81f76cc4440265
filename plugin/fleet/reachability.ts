// Tracks which clusters do not answer, and since when. Reports each failed question, and the end of each outage.
import type { AgentUnavailableError } from "../../disruption/errors.ts";
import type { EventSink } from "../events/events.ts";

export class Reachability {
	readonly #emit: EventSink;
	readonly #now: () => number;
	readonly #lostAt = new Map<string, number>();

	constructor(emit: EventSink, now: () => number) {
		this.#emit = emit;
		this.#now = now;
	}

	failed(error: AgentUnavailableError): void {
		const { cluster, message, silent } = error;
		const since = this.#lostAt.get(cluster) ?? this.#now();
		this.#lostAt.set(cluster, since);
		this.#emit({
			type: "cluster.unreachable",
			cluster,
			message,
			...(silent && { silent }),
			elapsedMs: this.#now() - since,
		});
	}

	/** Ends all outages. Call it when every member has answered. */
	answered(): void {
		for (const [cluster, since] of this.#lostAt) {
			this.#emit({ type: "cluster.recovered", cluster, elapsedMs: this.#now() - since });
		}
		this.#lostAt.clear();
	}

	/** Names of the clusters that do not answer now. */
	get lost(): readonly string[] {
		return [...this.#lostAt.keys()];
	}
}
