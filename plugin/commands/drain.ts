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
import type { EventSink } from "../events.ts";
import { type ExitCode, exitCode } from "../exit.ts";
import type { KubeContext } from "../kube-context.ts";
import { isLabelSelector } from "../label-selector-text.ts";
import { parsePodOrder } from "../pod-order.ts";
import { aggregate } from "../output/plain.ts";
import { type ReportedRun, reportRun } from "../reported-run.ts";
import { resumeCommand, undoCommand } from "../resume-command.ts";
import { agentVersions, openSession, runExitCode, startHeartbeat, tellInterruption } from "../session.ts";
import { nodeName, type NodeTarget, resolveNodes } from "../targets.ts";
import { requireNodes, summariseNodes } from "./cordon.ts";

export const runDrain: CommandRunner = (input, deps) =>
	reportRun({ command: "drain", input, deps }, async (run) => {
		requireNodes(input, "drain");
		const options = readOptions(input, deps);
		const contexts = run.openContexts();
		const nodes = await resolveNodes(contexts, input.words, textFlag(input, "selector"));
		if (options.dryRun !== "client") return drainUnderBudgets(nodes, options, { ...run, input, deps, contexts });
		const result = await drain(nodes, options, {
			evictions: undefined,
			emit: run.emit,
			stop: deps.interrupts.stop,
			wallClock: () => Date.now(),
			leaveAgent: () => undefined,
		});
		return finish(result, { emit: run.emit, several: contexts.length > 1, interrupted: undefined });
	});

interface DrainRun extends ReportedRun {
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
	readonly contexts: readonly KubeContext[];
}

async function drainUnderBudgets(
	nodes: readonly NodeTarget[],
	options: DrainOptions,
	{ input, deps, contexts, emit, offer, record }: DrainRun,
): Promise<ExitCode> {
	const { streams, interrupts } = deps;
	const { gracePeriodSeconds, deletes, dryRun, skipWaitAfterSeconds } = options;
	const session = await openSession(
		{
			command: "drain",
			contexts,
			options: { gracePeriodSeconds, deletes, dryRun: dryRun === "server" },
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
		emit({
			type: "run.started",
			agents: agentVersions(session.fleet),
			nodes: nodes.map(nodeName),
			pods: [],
			dryRun,
		});
		offer(() => ({
			...(record.nodesLeft.length > 0 && { resume: resumeCommand(input.argv) }),
			...(record.ours.length > 0 && { undo: undoCommand(record.ours, input.globals) }),
		}));
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
		return finish(result, { emit, several: contexts.length > 1, interrupted: interrupts.stoppedBy });
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
		deletes: booleanFlag(input, "disable-eviction"),
		order: parsePodOrder(textFlag(input, "order-by")),
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
			nodes: pending.map(({ node }) => nodeName(node)),
		});
		const [only] = failed;
		// A single failure is told error by error, several node by node: Go's nested aggregates.
		const errors = failed.length === 1 && only ? only.errors : failed.map((outcome) => aggregate(outcome.errors));
		emit({ type: "run.failed", errors: several ? [] : errors });
	}
	return runExitCode(interrupted, failed);
}
