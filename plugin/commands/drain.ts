// kubectl xpdb drain
import {
	booleanFlag,
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	numberFlag,
	textFlag,
} from "../command.ts";
import { confirm } from "../confirm.ts";
import { type DrainOptions, type DrainResult, drain } from "../drain.ts";
import { parseDryRun } from "../dry-run.ts";
import { UsageError } from "../errors.ts";
import type { EventSink, RunSummary } from "../events.ts";
import { type ExitCode, exitCode } from "../exit.ts";
import type { KubeContext } from "../kube-context.ts";
import { isLabelSelector } from "../label-selector-text.ts";
import { openContexts } from "../open-contexts.ts";
import { aggregate } from "../output/plain.ts";
import { resumeCommand, undoCommand } from "../resume-command.ts";
import { createEmitter, openSession, runExitCode, type Session, startHeartbeat, tellInterruption } from "../session.ts";
import { type NodeTarget, resolveNodes } from "../targets.ts";
import { requireNodes, summariseNodes } from "./cordon.ts";

export const runDrain: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	requireNodes(input, "drain");
	const options = readOptions(input, deps);
	const contexts = openContexts(input.globals, deps.env, streams.stderr);
	try {
		const nodes = await resolveNodes(contexts, input.words, textFlag(input, "selector"));
		const emit = createEmitter(deps, contexts);
		if (options.dryRun === "client") {
			const result = await drain(nodes, options, {
				evictions: undefined,
				emit,
				stop: deps.interrupts.stop,
				wallClock: () => Date.now(),
				leaveAgent: () => undefined,
			});
			return finish(result, { emit, several: contexts.length > 1, interrupted: undefined });
		}
		return await drainUnderBudgets(nodes, options, { input, deps, contexts, emit });
	} finally {
		for (const { client } of contexts) client.close();
	}
};

interface DrainRun {
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
	readonly contexts: readonly KubeContext[];
	readonly emit: EventSink;
}

async function drainUnderBudgets(
	nodes: readonly NodeTarget[],
	options: DrainOptions,
	run: DrainRun,
): Promise<ExitCode> {
	const { input, deps, contexts, emit } = run;
	const { streams, interrupts } = deps;
	const { gracePeriodSeconds, dryRun, skipWaitAfterSeconds } = options;
	const session = await openSession(
		{
			command: "drain",
			contexts,
			options: { gracePeriodSeconds, deletes: booleanFlag(input, "disable-eviction"), dryRun: dryRun === "server" },
			waitsUntilGone: true,
			skipWaitAfterSeconds,
		},
		{ deps, input, emit },
	);
	try {
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
		tellInterruption(interrupts.stop, session);
		let nodesDone = 0;
		const endHeartbeat = startHeartbeat(session, () => ({ nodesDone, nodesTotal: nodes.length }));
		let result: DrainResult;
		try {
			result = await drain(nodes, options, {
				evictions: session.evictions,
				emit,
				stop: interrupts.stop,
				wallClock: () => Date.now(),
				leaveAgent: (contextName, podUid) => session.fleet?.leave(contextName, podUid),
				onNode: () => {
					nodesDone += 1;
				},
			});
		} finally {
			endHeartbeat();
		}
		// What was only reserved is given back before anything is said about what is left.
		await session.evictions.settled();
		const several = contexts.length > 1;
		const code = finish(result, { emit, several, interrupted: interrupts.stoppedBy });
		emit(summaryOf(result, { session, input, several, code, interrupted: interrupts.stoppedBy !== undefined }));
		return code;
	} finally {
		await session.close();
	}
}

function readOptions(input: CommandInput, { streams }: CommandDependencies): DrainOptions {
	const podSelector = textFlag(input, "pod-selector");
	if (!isLabelSelector(podSelector))
		throw new UsageError("--pod-selector=<pod_selector> must be a valid label selector");
	const maxNodes = numberFlag(input, "max-nodes");
	if (maxNodes < 1) throw new UsageError(`--max-nodes must be at least 1, is ${maxNodes}`);
	return {
		dryRun: parseDryRun(textFlag(input, "dry-run"), streams.stderr),
		podSelector,
		maxNodes,
		force: booleanFlag(input, "force"),
		ignoreDaemonSets: booleanFlag(input, "ignore-daemonsets"),
		deleteEmptyDirData: booleanFlag(input, "delete-emptydir-data"),
		skipWaitAfterSeconds: numberFlag(input, "skip-wait-for-delete-timeout"),
		chunkSize: numberFlag(input, "chunk-size"),
		timeoutMs: numberFlag(input, "timeout"),
		gracePeriodSeconds: numberFlag(input, "grace-period"),
	};
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
			nodes: pending.map(({ node }) => ({ context: node.context.name, node: node.name })),
		});
		const [only] = failed;
		// A single failure is told error by error, several node by node: Go's nested aggregates.
		const errors = failed.length === 1 && only ? only.errors : failed.map((outcome) => aggregate(outcome.errors));
		emit({ type: "run.failed", errors: several ? [] : errors });
	}
	return runExitCode(interrupted, failed);
}

function summaryOf(
	{ nodes, cordoned }: DrainResult,
	run: {
		readonly session: Session;
		readonly input: CommandInput;
		readonly several: boolean;
		readonly code: ExitCode;
		readonly interrupted: boolean;
	},
): RunSummary {
	const { session, input, several, code, interrupted } = run;
	const named = (node: NodeTarget): string => (several ? `${node.context.name}/${node.name}` : node.name);
	const drained = nodes.filter(({ kind }) => kind === "drained").map(({ node }) => node);
	const left = cordoned.filter((node) => !drained.includes(node));
	const { evicted, failed, longestWaitMs } = session.evictions.counts;
	return {
		type: "summary",
		command: "drain",
		exitCode: code,
		interrupted,
		evicted,
		failed,
		drained: drained.map(named),
		notDrained: nodes.flatMap((outcome) =>
			outcome.kind === "drained"
				? []
				: [{ node: named(outcome.node), reason: outcome.kind === "failed" ? outcome.reason : "stopped" }],
		),
		cordoned: left.map(({ context, name }) => ({ context: context.name, node: name })),
		longestWaitMs,
		...(drained.length < nodes.length && { resume: resumeCommand(input.argv) }),
		...(left.length > 0 && { undo: [undoCommand(left.map(named), input.globals)] }),
	};
}
