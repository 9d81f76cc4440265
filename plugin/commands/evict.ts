// kubectl xpdb evict
import { type PodTarget, resolvePods } from "../evictions/pod-targets.ts";
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
import { beginConnecting, type Connecting } from "../fleet/connect-fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import { newOperationId } from "../nodes/operation.ts";
import { carryOut, withoutLost } from "../run/carry-out.ts";
import { evictWork } from "../run/evict-work.ts";
import type { OpenRun } from "../run/run-report.ts";
import { UsageError } from "../terminal/errors.ts";

export const runEvict: CommandRunner = (input, deps) => {
	const call = { command: "evict", op: newOperationId(), input, deps } as const;
	return carryOut(call, {
		readOptions: () => readOptions(input, deps),
		async findWork(options, run) {
			const readAt = runClock();
			// Connect while the pods are read: the user waits for both, and connecting changes nothing.
			const resolved = Promise.withResolvers<readonly PodTarget[]>();
			resolved.promise.catch(() => undefined);
			const mayLose = async (context: KubeContext): Promise<boolean> =>
				(await resolved.promise).every((pod) => pod.context !== context);
			const connecting =
				options.dryRun === "client"
					? undefined
					: beginConnecting(run.contexts, {
							mayLose,
							...(!options.allNamespaces && { namespaces: namespacesOf(run) }),
						});
			// Handled here, because missing pods are reported first.
			connecting?.connection.catch(() => undefined);
			try {
				const { pods, lost } = await resolvePods(run.contexts, options);
				resolved.resolve(pods);
				if (lost.length > 0) {
					closeLater(connecting);
					// openEvictions() connects again, through the contexts that answer.
					return withoutLost(evictWork({ pods, options, readAt }, call, run), lost);
				}
				if (pods.length > 0) return evictWork({ pods, options, readAt, connecting }, call, run);
			} catch (error) {
				resolved.reject(error);
				closeLater(connecting);
				throw error;
			}
			closeLater(connecting);
			deps.streams.stderr.write("No resources found\n");
			return { kind: "ended", failures: [] };
		},
	});
};

/** The namespaces of the named or selected pods. */
function namespacesOf({ contexts }: OpenRun): readonly string[] {
	return [...new Set(contexts.map(({ namespace }) => namespace))].toSorted();
}

function closeLater(connecting: Connecting | undefined): void {
	connecting?.connection.then(
		({ fleet }) => fleet?.close(),
		() => undefined,
	);
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
