// Evicts named or selected pods.
import { createJob, createTimeout } from "../evictions/eviction-job.ts";
import type { PodTarget } from "../evictions/pod-targets.ts";
import { waitUntilMeasured, waitUntilRecovered } from "../evictions/recovery.ts";
import type { DryRun } from "../flags/dry-run.ts";
import { formatDuration } from "../flags/duration.ts";
import type { Connecting } from "../fleet/connect-fleet.ts";
import { isStaticPod } from "../kubernetes/static-pod.ts";
import { resumeEvictCommand } from "../nodes/resume-command.ts";
import type { RunResult, RunWork } from "./perform-run.ts";
import type { EvictionSession } from "./eviction-session.ts";
import { targetPod } from "./question.ts";
import type { OpenRun, RunCall } from "./run-report.ts";

export interface EvictOptions {
	readonly wait: boolean;
	readonly replaced: boolean;
	/** The timeout of the whole run. 0: none. */
	readonly timeoutMs: number;
	readonly gracePeriodSeconds: number;
	readonly dryRun: DryRun;
}

export interface EvictTask {
	readonly pods: readonly PodTarget[];
	readonly options: EvictOptions;
	/** When the pods were requested, by the clock of the session's runtime. */
	readonly readAt: number;
	readonly connecting?: Connecting | undefined;
}

export function evictWork(task: EvictTask, call: RunCall, run: OpenRun): RunWork | RunResult {
	const { pods, options, connecting } = task;
	const { gracePeriodSeconds, dryRun, wait, timeoutMs } = options;
	if (dryRun === "client") {
		warnOfStaticPods(pods, run);
		for (const pod of pods) {
			run.emit({ type: "pod.evicting", ...targetPod(pod), dryRun, deletes: false, budgets: [], attempt: 1 });
		}
		return { kind: "ended", failures: [] };
	}
	return {
		kind: "evictions",
		nodes: [],
		pods,
		dryRun,
		settings: {
			options: { gracePeriodSeconds, deletes: false, dryRun: dryRun === "server" },
			waitsUntilGone: wait,
			skipWaitAfterSeconds: 0,
			timeoutMs,
			connecting,
		},
		async foresee(session) {
			warnOfStaticPods(pods, run);
			await tellSuspensions(pods, session);
		},
		work: (session) => evictUnderBudgets(task, session, call, run),
	};
}

/** An API server accepts the eviction of a static pod, so the run would report success. */
function warnOfStaticPods(pods: readonly PodTarget[], { emit }: Pick<OpenRun, "emit">): void {
	for (const { context, pod } of pods.filter((target) => isStaticPod(target.pod))) {
		const message =
			`pod ${pod.metadata?.namespace}/${pod.metadata?.name} is a static pod: an eviction does not stop it, ` +
			`because its kubelet runs it from a file on node ${pod.spec?.nodeName}. A drain skips it`;
		emit({ type: "diagnostic", level: "warning", context: context.name, message });
	}
}

/** Uses the budget lists from connecting if they cover the pods' namespaces. A silent member is reported later. */
async function tellSuspensions(
	targets: readonly PodTarget[],
	{ fleet, suspensions }: Pick<EvictionSession, "fleet" | "suspensions">,
): Promise<void> {
	const covered = targets.filter(({ context }) => fleet?.memberOf(context.name) !== undefined);
	if (!fleet || covered.length === 0) return;
	const pods = covered.map(({ pod }) => pod);
	const namespaces = [...new Set(pods.map(({ metadata }) => metadata?.namespace ?? ""))].toSorted();
	const { listedAhead } = fleet;
	const isListed = namespaces.every((namespace) => listedAhead?.namespaces.includes(namespace));
	const lists = listedAhead && isListed ? listedAhead.members : await fleet.listBudgets(namespaces).catch(() => []);
	suspensions.tellOfPods(pods, lists);
}

async function evictUnderBudgets(
	{ pods, options, readAt }: EvictTask,
	session: EvictionSession,
	{ deps }: RunCall,
	{ offer, record, suggest }: OpenRun,
): Promise<RunResult> {
	const { stop } = deps.interrupts;
	const { fleet, evictions } = session;
	const { gracePeriodSeconds, replaced, timeoutMs } = options;
	offer(() => (record.podsLeft.length === 0 ? {} : { resume: resumeEvictCommand(record.podsLeft, suggest) }));
	// The user's time to answer the question does not count.
	const leftMs = timeoutMs > 0 ? Math.max(1, timeoutMs - (session.connectedAt - readAt)) : timeoutMs;
	const timeout = createTimeout(leftMs, formatDuration(timeoutMs));
	session.limit(timeout.signal);
	const measured = replaced && fleet ? await waitUntilMeasured(pods, { ...session, fleet, timeout, stop }) : undefined;
	if (measured?.kind === "failed") return { kind: "ended", failures: [measured] };
	const before = measured?.kind === "measured" ? measured.before : [];
	const outcomes = await Promise.all(
		pods.map(({ pod, context }) =>
			evictions.evict(createJob(pod, { context, timeout, strands: isStaticPod(pod), gracePeriodSeconds, readAt })),
		),
	);
	const failures = outcomes.filter((outcome) => outcome.kind === "failed");
	if (fleet && before.length > 0 && failures.length === 0 && !stop.aborted) {
		const recovered = await waitUntilRecovered(before, { ...session, fleet, timeout, stop });
		if (recovered.kind === "failed") failures.push(recovered);
	}
	return { kind: "ended", failures };
}
