// kubectl xpdb drain
import { fleetHash } from "../../disruption/fleet.ts";
import { type DrainOptions, type DrainResult, drain } from "../drain/drain.ts";
import { readDrainOptions } from "../drain/drain-options.ts";
import type { EventSink } from "../events/events.ts";
import {
	booleanFlag,
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	textFlag,
} from "../flags/command.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { watchDeletions } from "../kubernetes/pod-deletions.ts";
import { type NodeTarget, nodeName, resolveNodes } from "../nodes/node-targets.ts";
import { isOperationId, newOperationId } from "../nodes/operation.ts";
import { NodeMarks } from "../nodes/operation-annotation.ts";
import { flagWords, readOperationFlags } from "../nodes/operation-flags.ts";
import { resumeCommand, resumeOperationCommand, undoOperationCommand } from "../nodes/resume-command.ts";
import { type ResumedOperation, resumeOperation } from "../nodes/resume-operation.ts";
import { aggregate } from "../output/plain.ts";
import { userAtHost } from "../run/holder-identity.ts";
import { planEvent } from "../run/plan-event.ts";
import { type ReportedRun, reportRun } from "../run/reported-run.ts";
import { fleetMembers, openSession, runExitCode, startHeartbeat, tellInterruption } from "../run/session.ts";
import { confirm } from "../terminal/confirm.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import { refuseNodes, requireNodes, summariseNodes } from "./cordon.ts";

export const runDrain: CommandRunner = (input, deps) => {
	const resumes = textFlag(input, "resume");
	const op = resumes === "" ? newOperationId() : resumes;
	return reportRun({ command: "drain", ...(isOperationId(op) && { op }), input, deps }, async (run) => {
		if (resumes === "") requireNodes(input, "drain");
		const fresh = resumes === "" && { input, options: readDrainOptions(input, deps) };
		const contexts = run.openContexts();
		if (fresh) {
			const nodes = await resolveNodes(contexts, input.words, textFlag(input, "selector"));
			return drainNodes(nodes, fresh.options, { ...run, op, input, deps, contexts });
		}
		refuseNodes(input, "--resume");
		const resumed = await resumeOperation(op, { input, contexts, emit: run.emit });
		if (resumed.nodes.length === 0) return exitCode.done;
		const options = readDrainOptions(resumed.input, deps);
		return drainNodes(resumed.nodes, options, { ...run, op, input: resumed.input, deps, contexts, resumed });
	});
};

interface DrainRun extends ReportedRun {
	readonly op: string;
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
	readonly contexts: readonly KubeContext[];
	readonly resumed?: ResumedOperation;
}

async function drainNodes(nodes: readonly NodeTarget[], options: DrainOptions, run: DrainRun): Promise<ExitCode> {
	if (options.dryRun !== "client") return drainUnderBudgets(nodes, options, run);
	const result = await drain(nodes, options, {
		evictions: undefined,
		emit: run.emit,
		stop: run.deps.interrupts.stop,
		wallClock: () => Date.now(),
		now: () => performance.now(),
		leaveAgent: () => undefined,
		agentNamespaces: () => [run.input.globals.agentNamespace],
	});
	return finish(result, { emit: run.emit, several: run.contexts.length > 1, interrupted: undefined });
}

async function drainUnderBudgets(
	nodes: readonly NodeTarget[],
	options: DrainOptions,
	{ op, input, deps, contexts, emit, writesJson, offer, record, resumed }: DrainRun,
): Promise<ExitCode> {
	const { streams, interrupts } = deps;
	const { gracePeriodSeconds, deletes, dryRun, skipWaitAfterSeconds } = options;
	const session = await openSession(
		{
			command: "drain",
			op,
			contexts,
			options: { gracePeriodSeconds, deletes, dryRun: dryRun === "server" },
			waitsUntilGone: true,
			skipWaitAfterSeconds,
		},
		{ deps, input, emit },
	);
	try {
		const fleet = session.fleet ? fleetHash(session.fleet.members.map(({ id }) => id)) : "";
		resumed?.requireFleet(fleet);
		const goOn = await confirm(
			{
				summary: summariseNodes("drain", nodes),
				contexts: new Set(nodes.map(({ context }) => context)).size,
				assumeYes: booleanFlag(input, "yes") || dryRun !== "none",
				signal: interrupts.stop,
			},
			streams,
		);
		if (!goOn) {
			streams.stderr.write("Nothing was touched.\n");
			return exitCode.error;
		}
		interrupts.graceful();
		emit({
			type: "run.started",
			members: fleetMembers(session.fleet),
			nodes: nodes.map(nodeName),
			pods: [],
			dryRun,
		});
		// Up to a second of reads, for which nobody waits whom kubectl's lines are enough.
		if (writesJson) {
			const plan = await planEvent(nodes, session.fleet, { ...options, stop: interrupts.stop });
			if (plan) emit(plan);
		}
		const flags = readOperationFlags(input);
		const marks = new NodeMarks(
			{
				id: op,
				by: userAtHost(),
				since: resumed?.since ?? new Date().toISOString(),
				nodes: resumed?.total ?? nodes.length,
				fleet,
				...flags,
			},
			emit,
		);
		offer(() => {
			const again = flagWords(flags.typedAgain, input);
			// By its id only the nodes are found that could be marked before it ended.
			const goOn = marks.hasAll(nodes) ? resumeOperationCommand(op, again, input.globals) : resumeCommand(input.argv);
			return {
				...(record.nodesLeft.length > 0 && dryRun === "none" && { resume: goOn }),
				...(record.ours.length > 0 && { undo: undoOperationCommand(op, input.globals) }),
			};
		});
		tellInterruption(interrupts.stop, session);
		let nodesDone = 0;
		const endHeartbeat = startHeartbeat(session, () => ({ nodesDone, nodesTotal: nodes.length }));
		let result: DrainResult;
		try {
			result = await drain(nodes, options, {
				evictions: session.evictions,
				emit,
				...(dryRun === "none" && { marks }),
				stop: interrupts.stop,
				wallClock: () => Date.now(),
				now: () => session.runtime.now(),
				...(dryRun === "none" && { watchDeletions }),
				leaveAgent: (contextName, podUid) => session.fleet?.leave(contextName, podUid),
				agentNamespaces: (contextName) => session.fleet?.agentNamespaces(contextName) ?? [],
				onNode: () => {
					nodesDone += 1;
				},
			});
		} finally {
			endHeartbeat();
		}
		// What was only reserved is given back before anything is said about what is left.
		await session.evictions.settled();
		return finish(result, { emit, several: contexts.length > 1, interrupted: interrupts.stoppedBy });
	} finally {
		await session.close();
	}
}

/** Ends as kubectl does: the nodes that are left, then all errors once more. */
function finish(
	{ nodes }: DrainResult,
	{
		emit,
		several,
		interrupted,
	}: { readonly emit: EventSink; readonly several: boolean; readonly interrupted: ExitCode | undefined },
): ExitCode {
	const failed = nodes.filter((outcome) => outcome.kind === "failed");
	if (failed.length > 0) {
		const pending = nodes.filter(({ kind }) => kind !== "drained");
		emit({
			type: "nodes.pending",
			nodes: pending.map(({ node }) => nodeName(node)),
		});
		const [only] = failed;
		// A single failure is told error by error, several node by node: Go's nested aggregates.
		const errors = failed.length === 1 && only ? only.errors : failed.map((outcome) => aggregate(outcome.errors));
		emit({ type: "run.failed", errors: several ? [] : errors });
	}
	return runExitCode(interrupted, failed);
}
