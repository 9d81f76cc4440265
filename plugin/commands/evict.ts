// kubectl xpdb evict
import { booleanFlag, type CommandRunner, type CommandInput, numberFlag, textFlag } from "../command.ts";
import { confirm } from "../confirm.ts";
import { formatDuration } from "../duration.ts";
import { parseDryRun } from "../dry-run.ts";
import { UsageError } from "../errors.ts";
import { createJob, createTimeout } from "../eviction-job.ts";
import type { DryRun } from "../events.ts";
import { exitCode } from "../exit.ts";
import { openContexts } from "../open-contexts.ts";
import { type PodTarget, resolvePods } from "../pod-targets.ts";
import { measureBudgets, waitUntilRecovered } from "../recovery.ts";
import { resumeEvictCommand } from "../resume-command.ts";
import { createEmitter, openSession, runExitCode, startHeartbeat, tellInterruption } from "../session.ts";

export const runEvict: CommandRunner = async (input, deps) => {
	const { streams, interrupts } = deps;
	const options = readOptions(input, parseDryRun(textFlag(input, "dry-run"), streams.stderr));
	const contexts = openContexts(input.globals, deps.env, streams.stderr);
	try {
		const pods = await resolvePods(contexts, options);
		if (pods.length === 0) {
			streams.stderr.write("No resources found\n");
			return exitCode.done;
		}
		const emit = createEmitter(deps, contexts);
		if (options.dryRun === "client") {
			for (const pod of pods)
				emit({ type: "pod.evicting", ...nameOf(pod), dryRun: "client", deletes: false, budgets: [], attempt: 1 });
			return exitCode.done;
		}
		const session = await openSession(
			{
				command: "evict",
				contexts,
				options: {
					gracePeriodSeconds: options.gracePeriodSeconds,
					deletes: false,
					dryRun: options.dryRun === "server",
				},
				waitsUntilGone: options.wait,
				skipWaitAfterSeconds: 0,
			},
			{ deps, input, emit },
		);
		try {
			const summary = summarise(pods);
			const touched = new Set(pods.map(({ context }) => context)).size;
			const goOn = await confirm(
				{ summary, contexts: touched, assumeYes: options.yes || options.dryRun !== "none", signal: interrupts.stop },
				streams,
			);
			if (!goOn) {
				streams.stderr.write("Nothing was touched.\n");
				return exitCode.error;
			}
			interrupts.graceful();
			const { gracePeriodSeconds } = options;
			const timeout = createTimeout(options.timeoutMs, formatDuration(options.timeoutMs));
			const { fleet } = session;
			const before = options.replaced && fleet ? await measureBudgets(fleet, pods) : [];
			tellInterruption(interrupts.stop, session);
			const endHeartbeat = startHeartbeat(session, () => ({ nodesDone: 0, nodesTotal: 0 }));
			const outcomes = await Promise.all(
				pods.map(({ pod, context }) =>
					session.evictions.evict(createJob(pod, { context, timeout, gracePeriodSeconds })),
				),
			).finally(endHeartbeat);
			const left = pods.filter((_, index) => outcomes[index]?.kind === "stopped").map(nameOf);
			const failures = outcomes.filter((outcome) => outcome.kind === "failed");
			if (fleet && before.length > 0 && failures.length === 0 && !interrupts.stop.aborted) {
				const recovered = await waitUntilRecovered(before, {
					fleet,
					timeout,
					stop: interrupts.stop,
					emit,
				});
				if (recovered.kind === "failed") failures.push(recovered);
			}
			const code = runExitCode(interrupts.stoppedBy, failures);
			const { evicted, failed, longestWaitMs } = session.evictions.counts;
			emit({
				type: "summary",
				command: "evict",
				exitCode: code,
				interrupted: interrupts.stoppedBy !== undefined,
				evicted,
				failed,
				drained: [],
				notDrained: [],
				cordoned: [],
				longestWaitMs,
				...(left.length > 0 && { resume: resumeEvictCommand(left, input.globals) }),
			});
			return code;
		} finally {
			await session.close();
		}
	} finally {
		for (const { client } of contexts) client.close();
	}
};

function readOptions(input: CommandInput, dryRun: DryRun) {
	const selector = textFlag(input, "selector");
	const allNamespaces = booleanFlag(input, "all-namespaces");
	const until = textFlag(input, "for");
	const see = "See 'kubectl xpdb evict --help' for usage.";
	if (input.words.length > 0 && selector !== "")
		throw new UsageError("cannot specify both a pod name and a --selector option", see);
	if (input.words.length === 0 && selector === "") throw new UsageError("USAGE: evict POD [flags]", see);
	if (allNamespaces && selector === "")
		throw new UsageError("a pod cannot be named across all namespaces", "Use -n, or -A with -l");
	if (until !== "deleted" && until !== "replaced") {
		throw new UsageError(`Invalid --for value (${until}). Must be "deleted" or "replaced".`, see);
	}
	const wait = booleanFlag(input, "wait");
	if (!wait && until === "replaced")
		throw new UsageError("--for=replaced waits, --wait=false does not: use one of them", see);
	return {
		words: input.words,
		selector,
		allNamespaces,
		wait,
		replaced: until === "replaced",
		timeoutMs: numberFlag(input, "timeout"),
		gracePeriodSeconds: numberFlag(input, "grace-period"),
		yes: booleanFlag(input, "yes"),
		dryRun,
	};
}

function nameOf({ context, pod }: PodTarget): {
	readonly context: string;
	readonly namespace: string;
	readonly pod: string;
} {
	return { context: context.name, namespace: pod.metadata?.namespace ?? "", pod: pod.metadata?.name ?? "" };
}

function summarise(pods: readonly PodTarget[]): readonly string[] {
	const byContext = Map.groupBy(pods, ({ context }) => context.name);
	return [
		`Evict ${pods.length} pods in ${byContext.size} contexts:`,
		...[...byContext].map(([name, targets]) => `  ${name}  ${targets.length} pods: ${nameList(targets)}`),
	];
}

function nameList(targets: readonly PodTarget[]): string {
	const names = targets.slice(0, 5).map((target) => `${nameOf(target).namespace}/${nameOf(target).pod}`);
	return `${names.join(", ")}${targets.length > names.length ? ", ..." : ""}`;
}
