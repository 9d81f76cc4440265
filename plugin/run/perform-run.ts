// Performs a run of drain, evict, cordon, uncordon, suspend or unsuspend, from its flags to its exit code.
import type { MemberAgent, RunEvent } from "../events/events.ts";
import type { PodTarget } from "../evictions/pod-targets.ts";
import { booleanFlag } from "../flags/command.ts";
import type { DryRun } from "../flags/dry-run.ts";
import { holderIdentity } from "../fleet/holder-identity.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { LostContext } from "../nodes/find-in-contexts.ts";
import { type NodeTarget, nodeName } from "../nodes/node-target.ts";
import { refuseEmptyNames } from "../nodes/resource-argument.ts";
import { confirm } from "../terminal/confirm.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import { type EvictionSession, type EvictionSettings, memberAgents, openEvictions } from "./eviction-session.ts";
import { answeringContexts, endWithoutLost, warnOfLost } from "./lost-contexts.ts";
import { question, targetPod } from "./question.ts";
import { RunBudgetWatch } from "./run-budget-watch.ts";
import { tellInterruption, tellProgress } from "./run-progress.ts";
import { type OpenRun, type RunCall, reportRun } from "./run-report.ts";
import { tellUnrecovered } from "./tell-unrecovered.ts";
import { watchClock } from "./watch-clock.ts";

export interface RunSteps<Options> {
	/** Throws UsageError before anything is opened. */
	readonly readOptions: () => Options;
	/** Returns a result if there is nothing to confirm or to change. */
	readonly findWork: (options: Options, run: OpenRun) => Promise<RunWork | RunResult>;
}

export type RunWork = {
	readonly nodes: readonly NodeTarget[];
	readonly pods: readonly PodTarget[];
	readonly dryRun: DryRun;
	readonly lost?: readonly LostContext[];
} & (
	| { readonly kind: "nodes"; readonly work: () => Promise<RunResult> }
	| {
			readonly kind: "budgets";
			readonly question: readonly string[];
			readonly touches: number;
			readonly members: readonly MemberAgent[];
			/** `stop` aborts at the first interruption. */
			readonly work: (stop: AbortSignal) => Promise<RunResult>;
	  }
	| {
			readonly kind: "evictions";
			readonly settings: EvictionSettings;
			/** Throws if the work must not run under this fleet's budgets. The user is not asked then. */
			readonly checkFleet?: (fleetHash: string) => void;
			readonly foresee?: (session: EvictionSession) => Promise<void>;
			readonly work: (session: EvictionSession) => Promise<RunResult>;
	  }
);

export interface RunResult {
	readonly kind: "ended";
	/** What was only stopped by an interruption is not a failure. */
	readonly failures: readonly { readonly unreachable: boolean }[];
	/** Emitted after everything has settled. */
	readonly lastEvents?: readonly RunEvent[];
}

export function performRun<Options>(call: RunCall, { readOptions, findWork }: RunSteps<Options>): Promise<ExitCode> {
	return reportRun(call, async (report) => {
		const options = readOptions();
		refuseEmptyNames(call.input.words);
		const run = report.open();
		const work = await findWork(options, run);
		if (work.kind !== "ended") warnOfLost(work.lost ?? [], run.emit);
		switch (work.kind) {
			case "ended":
				return end(call, run, work);
			case "nodes":
				if (!(await isWanted(call, work))) return touchNothing(call);
				return end(call, run, endWithoutLost(await begin(run, work, []).work(), work.lost));
			case "budgets": {
				if (!(await isWanted(call, work))) return touchNothing(call);
				const { interrupts } = call.deps;
				interrupts.graceful();
				return end(call, run, await begin(run, work, work.members).work(interrupts.stop));
			}
			case "evictions":
				return evict(call, run, work);
		}
	});
}

export function withoutLost(work: RunWork | RunResult, lost: readonly LostContext[]): RunWork | RunResult {
	if (lost.length === 0) return work;
	return work.kind === "ended" ? endWithoutLost(work, lost) : { ...work, lost };
}

async function evict(call: RunCall, run: OpenRun, work: Extract<RunWork, { kind: "evictions" }>): Promise<ExitCode> {
	const { interrupts } = call.deps;
	const budgets = new RunBudgetWatch(run.emit);
	const targets = [...work.nodes, ...work.pods];
	const mayLose = (context: KubeContext): boolean => targets.every((target) => target.context !== context);
	const session = await openEvictions({ ...work.settings, mayLose }, call, {
		emit: budgets.see,
		contexts: answeringContexts(run.contexts, work.lost),
	});
	try {
		work.checkFleet?.(session.fleetHash);
		await work.foresee?.(session);
		if (!(await isWanted(call, work))) return touchNothing(call);
		await run.screen?.prepare(work);
		run.screen?.steer(session.evictions);
		interrupts.graceful();
		begin(run, work, memberAgents(session.fleet));
		tellInterruption(interrupts.stop, session);
		watchBudgetsOf(call, run, { session, budgets, dryRun: work.dryRun });
		const endProgress = tellProgress(session, run.record, work.nodes.length);
		const result = await work.work(session).finally(endProgress);
		// Wait until unused reservations are released, before reporting what is left.
		await session.settled();
		if (session.fleet && work.settings.waitsUntilGone) {
			const { fleet, holder, runtime } = session;
			const { budgets } = run.record;
			const wallClock = (): number => Date.now();
			const telling = tellUnrecovered({ fleet, budgets, emit: run.emit, holder, wallClock, runtime });
			await session.withinLimits(telling);
		}
		return end(call, run, endWithoutLost(result, work.lost));
	} finally {
		budgets.end();
		await session.close();
	}
}

/** Watches only if the counts are shown or recorded. Plain lines do not show them. */
function watchBudgetsOf(
	{ command, op = "" }: RunCall,
	{ writesJson, drawsReport, screen }: OpenRun,
	{
		session,
		budgets,
		dryRun,
	}: { readonly session: EvictionSession; readonly budgets: RunBudgetWatch; readonly dryRun: DryRun },
): void {
	const { fleet } = session;
	if (!fleet || dryRun !== "none" || !(writesJson || drawsReport || screen?.isPrepared)) return;
	budgets.begin({ fleet, holder: holderIdentity(command, op), clock: watchClock });
}

function isWanted({ command, input, deps }: RunCall, work: RunWork): Promise<boolean> {
	const { nodes, pods, dryRun, lost = [] } = work;
	const isOfBudgets = work.kind === "budgets";
	const asked = {
		summary: isOfBudgets ? work.question : question(command, { nodes, pods }),
		contexts: isOfBudgets ? work.touches : new Set([...nodes, ...pods, ...lost].map(({ context }) => context)).size,
		assumeYes: booleanFlag(input, "yes") || dryRun !== "none",
		signal: deps.interrupts.stop,
	};
	return confirm(asked, deps.streams);
}

function touchNothing({ deps }: RunCall): ExitCode {
	deps.streams.stderr.write("Nothing was touched.\n");
	return exitCode.error;
}

function begin<Work extends RunWork>({ emit }: OpenRun, work: Work, members: readonly MemberAgent[]): Work {
	const { nodes, pods, dryRun } = work;
	emit({ type: "run.started", members, nodes: nodes.map(nodeName), pods: pods.map(targetPod), dryRun });
	return work;
}

/** The exit code of an interruption comes first, then that of a missing answer, then that of a failure. */
function end({ deps }: RunCall, { emit }: OpenRun, { failures, lastEvents = [] }: RunResult): ExitCode {
	for (const event of lastEvents) emit(event);
	const { stoppedBy } = deps.interrupts;
	if (stoppedBy !== undefined) return stoppedBy;
	if (failures.some(({ unreachable }) => unreachable)) return exitCode.failedClosed;
	return failures.length > 0 ? exitCode.error : exitCode.done;
}
