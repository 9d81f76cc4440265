// kubectl xpdb evict
import type { PodEvent } from "../events/events.ts";
import { createJob, createTimeout } from "../evictions/eviction-job.ts";
import { type PodTarget, resolvePods } from "../evictions/pod-targets.ts";
import { measureBudgets, waitUntilRecovered } from "../evictions/recovery.ts";
import {
	booleanFlag,
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	numberFlag,
	textFlag,
} from "../flags/command.ts";
import { type DryRun, parseDryRun } from "../flags/dry-run.ts";
import { formatDuration } from "../flags/duration.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { newOperationId } from "../nodes/operation.ts";
import { resumeEvictCommand } from "../nodes/resume-command.ts";
import { type ReportedRun, reportRun } from "../run/reported-run.ts";
import { fleetMembers, openSession, runExitCode, startHeartbeat, tellInterruption } from "../run/session.ts";
import { confirm } from "../terminal/confirm.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";

export const runEvict: CommandRunner = (input, deps) => {
	const op = newOperationId();
	return reportRun({ command: "evict", op, input, deps }, async (run) => {
		const options = readOptions(input, parseDryRun(textFlag(input, "dry-run"), deps.streams.stderr));
		const contexts = run.openContexts();
		// The clock of the session's runtime.
		const readAt = performance.now();
		const pods = await resolvePods(contexts, options);
		if (pods.length === 0) {
			deps.streams.stderr.write("No resources found\n");
			return exitCode.done;
		}
		if (options.dryRun !== "client")
			return evictUnderBudgets(pods, options, { ...run, op, input, deps, contexts, readAt });
		for (const pod of pods) {
			const { emit } = run;
			emit({ type: "pod.evicting", ...nameOf(pod), dryRun: "client", deletes: false, budgets: [], attempt: 1 });
		}
		return exitCode.done;
	});
};

interface EvictRun extends ReportedRun {
	readonly op: string;
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
	readonly contexts: readonly KubeContext[];
	/** When the pods were asked for. */
	readonly readAt: number;
}

async function evictUnderBudgets(
	pods: readonly PodTarget[],
	options: ReturnType<typeof readOptions>,
	{ op, input, deps, contexts, readAt, emit, offer, record }: EvictRun,
): Promise<ExitCode> {
	const { streams, interrupts } = deps;
	const { gracePeriodSeconds, dryRun } = options;
	const session = await openSession(
		{
			command: "evict",
			op,
			contexts,
			options: { gracePeriodSeconds, deletes: false, dryRun: dryRun === "server" },
			waitsUntilGone: options.wait,
			skipWaitAfterSeconds: 0,
		},
		{ deps, input, emit },
	);
	try {
		const touched = new Set(pods.map(({ context }) => context)).size;
		const assumeYes = options.yes || dryRun !== "none";
		const goOn = await confirm(
			{ summary: summarise(pods), contexts: touched, assumeYes, signal: interrupts.stop },
			streams,
		);
		if (!goOn) {
			streams.stderr.write("Nothing was touched.\n");
			return exitCode.error;
		}
		interrupts.graceful();
		const { fleet } = session;
		emit({ type: "run.started", members: fleetMembers(fleet), nodes: [], pods: pods.map(nameOf), dryRun });
		offer(() => (record.podsLeft.length === 0 ? {} : { resume: resumeEvictCommand(record.podsLeft, input.globals) }));
		const timeout = createTimeout(options.timeoutMs, formatDuration(options.timeoutMs));
		const before = options.replaced && fleet ? await measureBudgets(fleet, pods) : [];
		tellInterruption(interrupts.stop, session);
		const endHeartbeat = startHeartbeat(session, () => ({ nodesDone: 0, nodesTotal: 0 }));
		const outcomes = await Promise.all(
			pods.map(({ pod, context }) =>
				session.evictions.evict(createJob(pod, { context, timeout, gracePeriodSeconds, readAt })),
			),
		).finally(endHeartbeat);
		const failures = outcomes.filter((outcome) => outcome.kind === "failed");
		if (fleet && before.length > 0 && failures.length === 0 && !interrupts.stop.aborted) {
			const recovered = await waitUntilRecovered(before, { ...session, fleet, timeout, stop: interrupts.stop });
			if (recovered.kind === "failed") failures.push(recovered);
		}
		return runExitCode(interrupts.stoppedBy, failures);
	} finally {
		await session.close();
	}
}

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

function nameOf({ context, pod }: PodTarget): PodEvent {
	const { namespace = "", name = "", uid = "" } = pod.metadata ?? {};
	return { context: context.name, namespace, pod: name, uid };
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
