// Tracks the healthy pods of the database and of the agents, to tell when all are up and what changes during the drain.
import type { PodHealth } from "./small-fleet.ts";

export interface HealthChange {
	readonly text: string;
	readonly isGood: boolean;
}

export class HealthBoard {
	readonly expected: number;
	readonly #label: readonly [key: string, value: string];
	/** The nodes of the database's healthy pods, by "CLUSTER/POD". */
	readonly #healthy = new Map<string, string>();
	readonly #agents = new Map<string, Set<string>>();
	readonly #waiting = new Set<() => void>();

	constructor(expected: number, label: readonly [key: string, value: string]) {
		this.expected = expected;
		this.#label = label;
	}

	/** Applies the change. Returns undefined if it does not concern the database. */
	apply({ cluster, name, labels, node, healthy }: PodHealth): HealthChange | undefined {
		const [key, value] = this.#label;
		if (labels["app.kubernetes.io/name"] === "xpdb-agent") this.#applyAgent(cluster, name, healthy);
		const isOurs = labels[key] === value;
		const pod = `${cluster}/${name}`;
		if (isOurs && healthy) this.#healthy.set(pod, node);
		if (isOurs && !healthy) this.#healthy.delete(pod);
		for (const look of this.#waiting) look();
		if (!isOurs) return undefined;
		const what = healthy ? `${pod} is back, on ${node}` : `${pod} leaves ${node}`;
		return { text: `${this.#healthy.size} of ${this.expected} healthy: ${what}`, isGood: healthy };
	}

	nodeOf(pod: string): string {
		return this.#healthy.get(pod) ?? "";
	}

	/** Resolves when the database is healthy and this many clusters have this many healthy agents each. */
	complete(clusters: number, agents = 1): Promise<void> {
		return new Promise((resolve) => {
			const look = (): void => {
				const complete = [...this.#agents.values()].filter(({ size }) => size >= agents);
				if (this.#healthy.size < this.expected || complete.length < clusters) return;
				this.#waiting.delete(look);
				resolve();
			};
			this.#waiting.add(look);
			look();
		});
	}

	#applyAgent(cluster: string, name: string, healthy: boolean): void {
		const agents = this.#agents.get(cluster) ?? new Set();
		this.#agents.set(cluster, agents);
		if (healthy) agents.add(name);
		else agents.delete(name);
	}
}
