// Drains nodes under the fleet's budgets, and annotates each node so that the drain can be resumed.
import { sumWaits } from "../evictions/waiting-event.ts";
import { type DrainOptions, type DrainResult, drain } from "../drain/drain.ts";
import type { NodeName } from "../events/events.ts";
import { userAtHost } from "../fleet/holder-identity.ts";
import { watchDeletions } from "../kubernetes/pod-deletions.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import type { LostContext } from "../nodes/find-in-contexts.ts";
import { type NodeTarget, nodeName } from "../nodes/node-target.ts";
import { newHolder } from "../nodes/operation.ts";
import { OperationAnnotations } from "../nodes/operation-annotation.ts";
import { flagWords, readOperationFlags } from "../nodes/operation-flags.ts";
import { resumeOperationCommand, typedCommand, undoOperationCommand } from "../nodes/resume-command.ts";
import type { ResumedOperation } from "../nodes/resume-operation.ts";
import { aggregate } from "../output/plain.ts";
import type { RunResult, RunWork } from "./perform-run.ts";
import type { EvictionSession } from "./eviction-session.ts";
import { failLostNodes } from "./lost-contexts.ts";
import { drainRecovery } from "./drain-recovery.ts";
import { planEvent } from "./plan-event.ts";
import type { OpenRun, RunCall } from "./run-report.ts";
import { sleep } from "./run-runtime.ts";
import { tellDeadlocks } from "./tell-deadlocks.ts";
import { warnOfStranded } from "./warn-of-stranded.ts";

export interface DrainTask {
	readonly nodes: readonly NodeTarget[];
	/** Contexts that do not answer and may have more of the nodes. */
	readonly lost: readonly LostContext[];
	readonly options: DrainOptions;
	readonly op: string;
	/** The operation to resume, if any. Its flags are in the input. */
	readonly resumed?: ResumedOperation;
}

export async function drainWork(task: DrainTask, call: RunCall, run: OpenRun): Promise<RunWork | RunResult> {
	const { nodes, options, resumed } = task;
	const { dryRun, deletes, gracePeriodSeconds, skipWaitAfterSeconds, timeoutMs } = options;
	if (dryRun === "client") return pretend(task, call, run);
	let stranded: ReadonlySet<string> = new Set();
	return {
		kind: "evictions",
		nodes,
		pods: [],
		dryRun,
		settings: {
			options: { gracePeriodSeconds, deletes, dryRun: dryRun === "server" },
			waitsUntilGone: true,
			skipWaitAfterSeconds,
			timeoutMs,
		},
		checkFleet: (hash) => resumed?.requireFleet(hash),
		async foresee({ fleet, suspensions }) {
			if (!fleet) return;
			const onListed: typeof suspensions.tellOfPods = (pods, lists) => suspensions.tellOfPods(pods, lists);
			const foreseen = await warnOfStranded(nodes, fleet, { ...options, onListed }, run.emit);
			({ stranded } = foreseen);
			run.record.tally.expect(foreseen.going);
		},
		work: (session) => drainUnderBudgets({ ...task, stranded }, session, call, run),
	};
}

async function pretend(
	{ nodes, lost, options }: DrainTask,
	{ input, deps }: RunCall,
	run: OpenRun,
): Promise<RunResult> {
	failLostNodes(lost, run.emit);
	const result = await drain(nodes, options, {
		evictions: undefined,
		emit: run.emit,
		stop: deps.interrupts.stop,
		wallClock: () => Date.now(),
		now: runClock,
		leaveAgent: () => undefined,
		agentNamespaces: () => [input.globals.agentNamespace],
	});
	return resultOf(result, run);
}

async function drainUnderBudgets(
	{ nodes, lost, options, op, resumed, stranded }: DrainTask & { readonly stranded: ReadonlySet<string> },
	session: EvictionSession,
	{ input, deps }: RunCall,
	run: OpenRun,
): Promise<RunResult> {
	const { fleet, evictions, fleetHash } = session;
	const { emit, record, suggest } = run;
	const { stop } = deps.interrupts;
	const annotates = options.dryRun === "none";
	// Plain lines do not show the plan, and making it takes time.
	if (run.writesJson || run.screen?.isPrepared) {
		const plan = await planEvent(nodes, fleet, { ...options, stop });
		if (plan) emit(plan);
	}
	const flags = readOperationFlags(input);
	const annotations = new OperationAnnotations(
		{
			id: op,
			holder: newHolder(),
			by: userAtHost(),
			since: resumed?.since ?? new Date().toISOString(),
			nodes: resumed?.total ?? nodes.length,
			fleet: fleetHash,
			...flags,
		},
		emit,
		{ now: runClock, sleep },
	);
	/** Returns one command for each operation that these nodes belong to: another operation may have taken some over. */
	const byOperation = (those: readonly NodeName[], command: (id: string) => string): string | undefined => {
		const ids = new Set(those.map((node) => annotations.operationOf(node)));
		const commands = [...ids].flatMap((id) => (id === undefined ? [] : [command(id)]));
		return commands.length === 0 ? undefined : commands.join(" && ");
	};
	run.offer(() => {
		const again = flagWords(flags.typedAgain, input);
		// A resume by id finds only nodes that this run has annotated.
		const goOn =
			lost.length === 0 && annotations.hasAll(nodes)
				? byOperation(record.nodesLeft, (id) => resumeOperationCommand(id, again, suggest))
				: typedCommand(input.argv);
		const undo = byOperation(record.ours, (id) => undoOperationCommand(id, suggest));
		return {
			...(record.nodesLeft.length + lost.length > 0 && annotates && goOn !== undefined && { resume: goOn }),
			...(undo !== undefined && { undo }),
		};
	});
	failLostNodes(lost, emit);
	const recovery = options.replaced && fleet && annotates ? drainRecovery(session, fleet, options, stop) : undefined;
	const measured = recovery && (await recovery.measure(nodes));
	if (measured?.kind === "failed") return { kind: "ended", failures: [measured] };
	const over = new AbortController();
	const looking =
		fleet && annotates
			? tellDeadlocks(
					nodes,
					{ waits: () => sumWaits(record.tally.waits), fleet, suggest, emit, sleep },
					AbortSignal.any([stop, over.signal]),
				)
			: Promise.resolve();
	// A bug in tellDeadlocks() is reported when the drain has ended.
	looking.catch(() => undefined);
	const result = await drain(nodes, options, {
		evictions,
		emit,
		...(annotates && { annotations, watchDeletions }),
		stop,
		wallClock: () => Date.now(),
		now: () => session.runtime.now(),
		leaveAgent: (contextName, podUid) => fleet?.leave(contextName, podUid),
		agentNamespaces: (contextName) => fleet?.agentNamespaces(contextName) ?? [],
		isStranded: (podUid) => stranded.has(podUid),
		onTimeout: (timeout) => session.limit(timeout),
		onNode: () => {
			session.nodesDone += 1;
		},
	}).finally(() => over.abort("the drain has ended"));
	await looking;
	const ended = resultOf(result, run);
	if (measured?.kind !== "measured" || ended.failures.length > 0) return ended;
	const recovered = await recovery?.wait(measured.before);
	return recovered?.kind === "failed" ? { ...ended, failures: [recovered] } : ended;
}

/** Like kubectl, lists the nodes that are left and then, with one context, repeats all errors. */
function resultOf({ nodes }: DrainResult, { contexts }: OpenRun): RunResult {
	const failures = nodes.filter((outcome) => outcome.kind === "failed");
	const [only] = failures;
	if (!only) return { kind: "ended", failures };
	// Several nodes' errors are grouped by node, like Go's nested aggregates.
	const errors = failures.length === 1 ? only.errors : failures.map((outcome) => aggregate(outcome.errors));
	const pending = nodes.filter(({ kind }) => kind !== "drained");
	return {
		kind: "ended",
		failures,
		lastEvents: [
			{ type: "nodes.pending", nodes: pending.map(({ node }) => nodeName(node)) },
			{ type: "run.failed", errors: contexts.length > 1 ? [] : errors },
		],
	};
}
