// A plugin process of the simulation: the base class of PluginProcess and DrainProcess.
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { running } from "./await-points.ts";
import type { Oracle } from "./oracle.ts";
import type { DrainData } from "./scenario.ts";
import type { ApiCall } from "./simulated-api.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { Wire } from "./wire.ts";
import { type ProcessOptions, SimulatedProcess, sleepOn } from "./simulated-process.ts";

export interface DrainWorld {
	readonly options: ProcessOptions & { readonly writtenHolds: boolean };
	readonly scenario: { readonly name: string };
	readonly clusters: readonly SimulatedCluster[];
	readonly oracle: Oracle;
	cluster(id: string): SimulatedCluster;
	dies(drain: Drain): void;
	member(from: Drain, id: string): AgentCluster;
	memberIds(clusterId: string): readonly string[];
	/** Undefined unless calls go over the wire. */
	readonly wire: Pick<Wire, "client" | "met"> | undefined;
	carry<T>(from: SimulatedProcess, cluster: SimulatedCluster, call: ApiCall<T>): Promise<T>;
	bug(where: string, error: unknown): void;
}

export abstract class Drain extends SimulatedProcess {
	readonly data: DrainData;
	/** The process has done what it could, and nothing that it started is still running. */
	finished = false;
	/** The number of pods whose evictions were accepted. */
	evicted = 0;
	/** The latest verdict or error, for people. */
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

	/** Stops the run, as Ctrl-C does. */
	abstract stop(): void;

	/** Ends the run, as an expired `--timeout` does. */
	abstract timeOut(): void;

	/** Pauses the run of a PluginProcess, as the key on its screen does. A DrainProcess ignores this. */
	pause(): void {}

	resume(): void {}

	protected abstract run(): Promise<void>;
}
