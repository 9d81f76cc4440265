// A plugin process of the simulation, of whatever kind: it runs until it has done what it could.
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { running } from "./await-points.ts";
import type { Oracle } from "./oracle.ts";
import type { DrainData } from "./scenario.ts";
import type { ApiCall } from "./simulated-api.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { Wire } from "./wire.ts";
import { type ProcessOptions, SimulatedProcess, sleepOn } from "./simulated-process.ts";

/** What a drain needs of the world around it. */
export interface DrainWorld {
	readonly options: ProcessOptions & { readonly writtenHolds: boolean };
	readonly scenario: { readonly name: string };
	readonly clusters: readonly SimulatedCluster[];
	readonly oracle: Oracle;
	cluster(id: string): SimulatedCluster;
	dies(drain: Drain): void;
	member(from: Drain, id: string): AgentCluster;
	/** Ids of the members that this cluster declares now. */
	memberIds(clusterId: string): readonly string[];
	/** To the agents of a cluster, and members that were met so; undefined where calls do not go over the wire. */
	readonly wire: Pick<Wire, "client" | "met"> | undefined;
	carry<T>(from: SimulatedProcess, cluster: SimulatedCluster, call: ApiCall<T>): Promise<T>;
	bug(where: string, error: unknown): void;
}

export abstract class Drain extends SimulatedProcess {
	readonly data: DrainData;
	/** It has done what it could, and nothing of it is under way. */
	finished = false;
	/** Pods whose evictions were accepted. */
	evicted = 0;
	/** Why its last round ended as it did; for people. */
	last = "";
	protected readonly world: DrainWorld;
	protected readonly runtime: RoundRuntime;

	constructor(data: DrainData, world: DrainWorld) {
		super(data.name, world.options);
		this.data = data;
		this.world = world;
		this.runtime = {
			now: () => this.clock.now(),
			newId: () => this.newId(),
			sleep: (ms, signal) => sleepOn(this.clock, ms, signal),
		};
	}

	start(): void {
		running
			.run(this, () => this.run())
			.then(
				() => {
					this.finished = true;
				},
				(error: unknown) => this.world.bug(this.name, error),
			);
	}

	/** As by Ctrl-C. */
	abstract stop(): void;

	/** As where `--timeout` is over. */
	abstract timeOut(): void;

	/** As by the key on its screen: it begins nothing until it is resumed. */
	pause(): void {}

	resume(): void {}

	protected abstract run(): Promise<void>;
}
