// Implements `kubectl xpdb evict`: reads the flags, and finds the pods.
import { resolvePods } from "../evictions/pod-targets.ts";
import {
	booleanFlag,
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	numberFlag,
	textFlag,
} from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { readReplaced } from "../flags/wait-until.ts";
import { beginConnecting } from "../fleet/connect-fleet.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import { newOperationId } from "../nodes/operation.ts";
import { performRun, withoutLost } from "../run/perform-run.ts";
import { closeConnection, connectWhileFinding } from "../run/connect-while-finding.ts";
import { evictWork } from "../run/evict-work.ts";
import type { OpenRun } from "../run/run-report.ts";
import { UsageError } from "../terminal/errors.ts";

export const runEvict: CommandRunner = (input, deps) => {
	const call = { command: "evict", op: newOperationId(), input, deps } as const;
	return performRun(call, {
		readOptions: () => readOptions(input, deps),
		async findWork(options, run) {
			const readAt = runClock();
			const find = async () => {
				const { pods, lost } = await resolvePods(run.contexts, options);
				return { targets: pods, lost };
			};
			const namespaces = options.allNamespaces ? undefined : namespacesOf(run);
			const found =
				options.dryRun === "client"
					? { ...(await find()), connecting: undefined }
					: await connectWhileFinding(run.contexts, find, (contexts, mayLose) =>
							beginConnecting(contexts, { mayLose, namespaces }),
						);
			const { targets: pods, lost, connecting } = found;
			if (pods.length + lost.length > 0) {
				return withoutLost(evictWork({ pods, options, readAt, connecting }, call, run), lost);
			}
			if (connecting) void closeConnection(connecting);
			deps.streams.stderr.write("No resources found\n");
			return { kind: "ended", failures: [] };
		},
	});
};

function namespacesOf({ contexts }: OpenRun): readonly string[] {
	return [...new Set(contexts.map(({ namespace }) => namespace))].toSorted();
}

function readOptions(input: CommandInput, { streams }: CommandDependencies) {
	const dryRun = parseDryRun(textFlag(input, "dry-run"), streams.stderr);
	const selector = textFlag(input, "selector");
	const allNamespaces = booleanFlag(input, "all-namespaces");
	const replaced = readReplaced(input, "evict");
	const see = "See 'kubectl xpdb evict --help' for usage.";
	if (input.words.length > 0 && selector !== "")
		throw new UsageError("cannot specify both a pod name and a --selector option", see);
	if (input.words.length === 0 && selector === "") throw new UsageError("USAGE: evict POD [flags]", see);
	if (allNamespaces && selector === "")
		throw new UsageError("a pod cannot be named across all namespaces", "Use -n, or -A with -l");
	const wait = booleanFlag(input, "wait");
	if (!wait && replaced) throw new UsageError("--for=replaced waits, --wait=false does not: use one of them", see);
	return {
		words: input.words,
		selector,
		allNamespaces,
		wait,
		replaced,
		timeoutMs: numberFlag(input, "timeout"),
		gracePeriodSeconds: numberFlag(input, "grace-period"),
		dryRun,
	};
}
