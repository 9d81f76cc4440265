// What evict and drain have in common around their work: the fleet behind the contexts, the events, the evictions.
import type { RoundRuntime } from "../../disruption/round-runtime.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink, MemberAgent } from "../events/events.ts";
import type { EvictionOptions } from "../evictions/eviction-request.ts";
import { type EvictionFleet, Evictions } from "../evictions/evictions.ts";
import { createEvictor } from "../evictions/evictor.ts";
import { evictorWithFailPoints, membersWithFailPoints } from "../evictions/fail-points.ts";
import { LeftBehind } from "../evictions/left-behind.ts";
import type { CommandDependencies, CommandInput } from "../flags/command.ts";
import { connectFleet, type Fleet } from "../fleet/fleet.ts";
import { withLeaseEvents } from "../fleet/lease-events.ts";
import { Reachability } from "../fleet/reachability.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import { holderIdentity } from "./holder-identity.ts";
import { createRunRuntime } from "./run-runtime.ts";

export interface SessionOptions {
	readonly command: "evict" | "drain";
	/** The run's id. */
	readonly op: string;
	readonly contexts: readonly KubeContext[];
	readonly options: EvictionOptions;
	readonly waitsUntilGone: boolean;
	readonly skipWaitAfterSeconds: number;
}

/** Must be closed. */
export interface Session {
	readonly fleet: Fleet | undefined;
	readonly evictions: Evictions;
	readonly emit: EventSink;
	readonly runtime: RoundRuntime;
	readonly reachability: Reachability;
	close(): Promise<void>;
}

/** For the first line of -o json. */
export function fleetMembers(fleet: Fleet | undefined): readonly MemberAgent[] {
	return (fleet?.members ?? []).map(({ id, name }) => {
		const context = fleet?.contextOf(id);
		const version = fleet?.descriptions.get(id)?.version ?? "";
		return { cluster: name, ...(context !== undefined && { context }), version };
	});
}

/** Connects the fleet; throws FleetUncoveredError before anything is touched. */
export async function openSession(
	{ command, op, contexts, options, waitsUntilGone, skipWaitAfterSeconds }: SessionOptions,
	{ deps, input, emit }: { readonly deps: CommandDependencies; readonly input: CommandInput; readonly emit: EventSink },
): Promise<Session> {
	const { fleet, uncovered } = await connectFleet(contexts);
	for (const { name } of uncovered) {
		emit({
			type: "diagnostic",
			level: "warning",
			context: name,
			message:
				"no xpdb agent and no XPodDisruptionBudget in this cluster: only its own PodDisruptionBudgets are obeyed",
		});
	}
	const closing = new AbortController();
	const runtime = createRunRuntime((problem, giveBack) => leftBehind.add(problem, giveBack));
	const leftBehind = new LeftBehind(runtime, (problem) => {
		// It ends by itself; only who looks for it wants to know.
		if (input.globals.verbosity >= 2) deps.streams.stderr.write(`left behind: ${String(problem)}\n`);
	});
	const reachability = new Reachability(emit, () => runtime.now());
	const watch = (members: readonly AgentCluster[]): readonly AgentCluster[] =>
		membersWithFailPoints(members, deps.env).map((member) =>
			withLeaseEvents(member, { emit, now: () => runtime.now() }),
		);
	const evictions = new Evictions({
		fleet: fleet && watchMembers(fleet, watch),
		holder: holderIdentity(command, op),
		options,
		evictor: evictorWithFailPoints(createEvictor(options, emit), deps.env),
		runtime,
		reachability,
		stop: AbortSignal.any([deps.interrupts.stop, closing.signal]),
		emit,
		waitsUntilGone,
		skipWaitAfterSeconds,
		wallClock: () => Date.now(),
	});
	return {
		fleet,
		evictions,
		emit,
		runtime,
		reachability,
		async close() {
			// After an error some pods may still wait: they are let go, and what was reserved for them is given back.
			closing.abort(new Error("the run is over"));
			await evictions.settled();
			await leftBehind.settled();
			fleet?.close();
		},
	};
}

/** The same fleet, with its members as `watch` makes them, also after it has changed. */
function watchMembers(
	fleet: Fleet,
	watch: (members: readonly AgentCluster[]) => readonly AgentCluster[],
): EvictionFleet {
	let watched = { from: fleet.members, members: watch(fleet.members) };
	return {
		get members() {
			if (watched.from !== fleet.members) watched = { from: fleet.members, members: watch(fleet.members) };
			return watched.members;
		},
		memberOf: (contextName) => fleet.memberOf(contextName),
		listBudgets: (namespaces) => fleet.listBudgets(namespaces),
		reconnect: () => fleet.reconnect(),
	};
}

/** A line now and then shows a waiting person or a log that the run is alive. */
const progressEveryMs = 15_000;

export interface NodeProgress {
	readonly nodesDone: number;
	readonly nodesTotal: number;
}

/** Tells how far the run is until the function that it returns is called. */
export function startHeartbeat({ evictions, emit }: Session, nodes: () => NodeProgress): () => void {
	const tell = (): void => {
		const { total, done, waiting, terminating } = evictions.counts;
		emit({ type: "progress", podsDone: done, podsTotal: total, ...nodes(), waiting, terminating });
	};
	const timer = setInterval(tell, progressEveryMs);
	return () => clearInterval(timer);
}

/** Who was interrupted says so; else a failure, and whether it was for lack of an answer. */
export function runExitCode(
	interrupted: ExitCode | undefined,
	failures: readonly { readonly unreachable: boolean }[],
): ExitCode {
	if (interrupted !== undefined) return interrupted;
	if (failures.some(({ unreachable }) => unreachable)) return exitCode.failedClosed;
	return failures.length > 0 ? exitCode.error : exitCode.done;
}

/** Says at the first interruption what goes on and for how long. */
export function tellInterruption(stop: AbortSignal, { evictions, emit }: Pick<Session, "evictions" | "emit">): void {
	const tell = (): void => {
		const { terminating, graceSeconds } = evictions.counts;
		emit({ type: "interrupted", accepted: terminating, graceSeconds });
	};
	stop.addEventListener("abort", tell, { once: true });
}
