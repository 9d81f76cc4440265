// Judges the agents' views of pods when they are lost and come back.
//
// Promise under test: a view that can be used again shows everything that had happened when it was lost. It may lack later events, because
// its first list is as old as the request for it.
import type { AgentProcess } from "./agent-process.ts";
import type { Oracle, Violation } from "./oracle.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

interface ReturnedViewsOptions {
	readonly clusters: readonly SimulatedCluster[];
	readonly oracle: Oracle;
	readonly onViolation: (violation: Violation) => void;
}

interface Seen {
	readonly hasView: boolean;
	/** The version of the cluster's last pod event when the view was last lost, or of a later restore if lower. 0 if it was never lost. */
	readonly lostAt: number;
}

export class ReturnedViews {
	readonly #options: ReturnedViewsOptions;
	readonly #seen = new WeakMap<AgentProcess, Seen>();

	constructor(options: ReturnedViewsOptions) {
		this.#options = options;
	}

	/** Called before each step. */
	look(): void {
		for (const cluster of this.#options.clusters) for (const agent of cluster.agents) this.#lookAt(cluster, agent);
	}

	#lookAt(cluster: SimulatedCluster, agent: AgentProcess): void {
		const { revision, podEvents } = cluster.server;
		const { hasView, podRevision } = agent;
		const { hasView: hadView = hasView, lostAt = 0 } = this.#seen.get(agent) ?? {};
		if (hadView && !hasView) {
			const lostAt = Number(podEvents.at(-1)?.resourceVersion ?? 0);
			// A watch that ended normally is judged lost late. If it lists again already, it was lost before that list began.
			this.#seen.set(agent, { hasView, lostAt: Math.min(lostAt, agent.streams?.podsListedAt ?? lostAt) });
			return;
		}
		// After a restore, the view need not show what the backup lacks.
		this.#seen.set(agent, { hasView, lostAt: Math.min(lostAt, revision) });
		if (hadView || !hasView) return;
		if (podRevision < lostAt) {
			const message = `the view of ${agent.name} is used again at revision ${podRevision}; ${lostAt} was there when it was lost`;
			this.#options.onViolation({ rule: "bug", message });
		}
		this.#options.oracle.limitViews(cluster, podRevision);
	}
}
