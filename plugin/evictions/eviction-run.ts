// Defines what the evictions of a run share: options, events, and the state of its fleet.
import type { CoverageLists } from "../../disruption/round/coverage.ts";
import type { CurrentBudgets } from "../../disruption/round/eviction.ts";
import type { GrantQueue } from "../../disruption/round/grant-queue.ts";
import type { Places } from "../../disruption/round/places.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { Semaphore } from "../../disruption/round/semaphore.ts";
import type { EventSink } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetChanges } from "../fleet/fleet-changes.ts";
import type { Reachability } from "../fleet/reachability.ts";
import type { DryRunRounds } from "./dry-run-rounds.ts";
import type { EvictionOptions, EvictorMaker } from "./send-eviction.ts";
import type { ToldSuspensions } from "./told-suspensions.ts";

export interface EvictionRun {
	readonly options: EvictionOptions;
	/** The holder identity of this run, as other runs see it. */
	readonly holder: string;
	readonly evictor: EvictorMaker;
	readonly runtime: RoundRuntime;
	readonly reachability: Reachability;
	/** After this aborts, no new eviction starts. */
	readonly stop: AbortSignal;
	readonly emit: EventSink;
	readonly wallClock: () => number;
	readonly places: Places;
	/** Undefined if no context leads to a cluster with agents. */
	readonly covered: CoveredRun | undefined;
}

export interface CoveredRun {
	readonly fleet: Pick<Fleet, "members" | "memberOf">;
	readonly lists: CoverageLists;
	readonly currentBudgets: CurrentBudgets;
	readonly changes: FleetChanges;
	readonly suspensions: ToldSuspensions;
	readonly queue: GrantQueue;
	/** Replaces the queue in a dry run. */
	readonly dryRun: DryRunRounds | undefined;
	/** Contexts whose clusters were members when one of their pods was tried. */
	readonly contexts: Set<string>;
	/** Limits how many pods look for their budgets at the same time. */
	readonly judging: Semaphore;
}
