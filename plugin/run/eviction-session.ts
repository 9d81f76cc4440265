// Sets up the evictions of one run, with the fleet whose budgets they obey.
import { fleetHash } from "../../disruption/budget/fleet.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink, MemberAgent } from "../events/events.ts";
import { createEvictor, type EvictionOptions } from "../evictions/send-eviction.ts";
import { type EvictionFleet, Evictions } from "../evictions/evictions.ts";
import { evictorWithFailPoints, membersWithFailPoints } from "../evictions/fail-points.ts";
import { LeftBehind } from "../evictions/left-behind.ts";
import { ToldSuspensions } from "../evictions/told-suspensions.ts";
import { beginConnecting, type Connecting, throughOthersWarning, uncoveredWarning } from "../fleet/connect-fleet.ts";
import type { ConnectOptions, Fleet } from "../fleet/fleet.ts";
import { holderIdentity } from "../fleet/holder-identity.ts";
import { Reachability } from "../fleet/reachability.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import type { OpenRun, RunCall } from "./run-report.ts";
import { createRunRuntime } from "./run-runtime.ts";
import { connectWithin, TimeLimits } from "./time-limits.ts";
import { warnOfUnsafeAgents } from "./warn-of-unsafe-agents.ts";

export interface EvictionSettings {
	readonly options: EvictionOptions;
	readonly waitsUntilGone: boolean;
	readonly skipWaitAfterSeconds: number;
	/** The timeout for connecting to the fleet. 0: none. */
	readonly timeoutMs: number;
	readonly mayLose?: ConnectOptions["mayLose"];
	/** Set if connecting began before the work was known. */
	readonly connecting?: Connecting | undefined;
}

/** The caller must close the session. */
export interface EvictionSession {
	readonly fleet: Fleet | undefined;
	/** "" if there is no fleet. */
	readonly fleetHash: string;
	readonly evictions: Evictions;
	readonly suspensions: ToldSuspensions;
	readonly holder: string;
	readonly emit: EventSink;
	readonly runtime: RoundRuntime;
	readonly reachability: Reachability;
	/** By the runtime's clock. */
	readonly connectedAt: number;
	/** Adds a timeout. settled(), withinLimits() and close() give up soon after all timeouts have aborted. */
	limit(timeout: AbortSignal): void;
	/** Resolves when nothing is in progress, or when no time is left for it. */
	settled(): Promise<void>;
	withinLimits(work: Promise<unknown>): Promise<void>;
	nodesDone: number;
	close(): Promise<void>;
}

export function memberAgents(fleet: Fleet | undefined): readonly MemberAgent[] {
	return (fleet?.members ?? []).map(({ id, name }) => {
		const context = fleet?.contextOf(id);
		const version = fleet?.descriptions.get(id)?.version ?? "";
		return { cluster: name, ...(context !== undefined && { context }), version };
	});
}

/** Throws FleetUncoveredError if a member is missing, before anything is changed. */
export async function openEvictions(
	{ options, waitsUntilGone, skipWaitAfterSeconds, timeoutMs, mayLose, connecting }: EvictionSettings,
	{ command, op = "", deps, input }: RunCall,
	{ contexts, emit }: Pick<OpenRun, "contexts" | "emit">,
): Promise<EvictionSession> {
	const begun = connecting ?? beginConnecting(contexts, mayLose && { mayLose });
	const { fleet, uncovered, lost = [] } = await connectWithin(timeoutMs, begun);
	const limits = new TimeLimits();
	for (const { name } of uncovered) {
		emit({ type: "diagnostic", level: "warning", context: name, message: uncoveredWarning });
	}
	for (const { context, problem } of lost) {
		// Without its fleet, this context's pods would be evicted like those of a cluster without agents.
		if (!(await mayLose?.(context))) {
			fleet?.close();
			throw new FleetUncoveredError("cannot reach every cluster of the fleet, nothing was touched", [
				`${context.name}: ${problem}`,
			]);
		}
		const message = throughOthersWarning(problem);
		emit({ type: "diagnostic", level: "warning", context: context.name, reason: "ServerUnreachable", message });
	}
	const warnOfAgents = warnOfUnsafeAgents(emit);
	if (fleet) warnOfAgents(fleet);
	const closing = new AbortController();
	const runtime = createRunRuntime((problem, giveBack) => leftBehind.add(problem, giveBack));
	const leftBehind = new LeftBehind(runtime, (problem) => {
		// The Lease or reservation ends by itself, so the problem is shown only from -v=2 on.
		if (input.globals.verbosity >= 2) deps.streams.stderr.write(`not released yet: ${String(problem)}\n`);
	});
	const reachability = new Reachability(emit, () => runtime.now());
	const watch = (members: readonly AgentCluster[]): readonly AgentCluster[] => membersWithFailPoints(members, deps.env);
	const holder = holderIdentity(command, op);
	const wallClock = (): number => Date.now();
	const suspensions = new ToldSuspensions({ emit, wallClock });
	const evictions = new Evictions({
		fleet: fleet && watchMembers(fleet, { watch, reconnected: () => warnOfAgents(fleet) }),
		holder,
		options,
		evictor: evictorWithFailPoints(createEvictor(options, emit), deps.env),
		runtime,
		reachability,
		stop: AbortSignal.any([deps.interrupts.stop, closing.signal]),
		emit,
		suspensions,
		waitsUntilGone,
		skipWaitAfterSeconds,
		wallClock,
	});
	return {
		fleet,
		fleetHash: fleet ? fleetHash(fleet.members.map(({ id }) => id)) : "",
		evictions,
		suspensions,
		holder,
		emit,
		runtime,
		reachability,
		connectedAt: runtime.now(),
		limit: (timeout) => limits.add(timeout),
		settled: () => limits.wait(evictions.settled()),
		withinLimits: (work) => limits.wait(work),
		nodesDone: 0,
		async close() {
			// After an error, some pods may still wait: stop waiting for them and release their reservations.
			closing.abort(new Error("the run is over"));
			await limits.wait(evictions.settled().then(() => leftBehind.settled()));
			fleet?.close();
		},
	};
}

/** Wraps the members with `watch`, also after the fleet has changed. Calls `reconnected` after each reconnect(). */
function watchMembers(
	fleet: Fleet,
	{
		watch,
		reconnected,
	}: {
		readonly watch: (members: readonly AgentCluster[]) => readonly AgentCluster[];
		readonly reconnected: () => void;
	},
): EvictionFleet {
	let watched = { from: fleet.members, members: watch(fleet.members) };
	return {
		get members() {
			if (watched.from !== fleet.members) watched = { from: fleet.members, members: watch(fleet.members) };
			return watched.members;
		},
		memberOf: (contextName) => fleet.memberOf(contextName),
		listBudgets: (namespaces) => fleet.listBudgets(namespaces),
		listedAhead: fleet.listedAhead,
		async reconnect() {
			await fleet.reconnect();
			reconnected();
		},
	};
}
