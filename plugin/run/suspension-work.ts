// Suspends or unsuspends a budget in all members. Each change is recorded in an Event, and a suspension also in an annotation, because a
// suspension bypasses the budget.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { formatSuspension, type Suspension } from "../../disruption/budget/suspension.ts";
import type { MemberAgent } from "../events/events.ts";
import { beforeSuspending } from "../evictions/fail-points.ts";
import type { DryRun } from "../flags/dry-run.ts";
import { type MemberFailure, type SuspensionChange, takeBack, writeSuspension } from "../fleet/suspend-budget.ts";
import { type SuspensionNote, tellSuspension } from "../fleet/suspension-event.ts";
import type { SuspensionTarget } from "../fleet/suspension-target.ts";
import { unsuspendCommand } from "../nodes/resume-command.ts";
import type { RunResult, RunWork } from "./perform-run.ts";
import type { OpenRun, RunCall } from "./run-report.ts";

export interface SuspensionTask {
	readonly name: BudgetName;
	readonly suspend: boolean;
	readonly targets: readonly SuspensionTarget[];
	readonly members: readonly MemberAgent[];
	/** Who requests the change, when and why. Written to the budgets only if `suspend` is true. */
	readonly suspension: Suspension;
	readonly dryRun: DryRun;
}

export function suspensionWork(task: SuspensionTask, call: RunCall, run: OpenRun): RunWork | RunResult {
	const { targets, suspend, dryRun, members } = task;
	const todo = targets.filter(({ found }) => found.suspended !== suspend);
	if (todo.length === 0) {
		tellStood(task, [], run);
		return { kind: "ended", failures: [] };
	}
	return {
		kind: "budgets",
		nodes: [],
		pods: [],
		dryRun,
		question: questionOf(task),
		touches: todo.length,
		members,
		work: async (stop) => work({ task, todo, stop }, call, run),
	};
}

function questionOf({ name, suspend, targets, suspension: { reason } }: SuspensionTask): readonly string[] {
	const clusters = targets.map(({ cluster }) => cluster).join(", ");
	const effect = suspend
		? "it blocks no eviction in the whole fleet until it is unsuspended"
		: "it applies again in the whole fleet";
	return [
		`${suspend ? "Suspend" : "Unsuspend"} budget ${formatBudgetName(name)} in ${clusters}: ${effect}`,
		...(reason === undefined ? [] : [`  ${reason}`]),
	];
}

interface Write {
	readonly task: SuspensionTask;
	readonly todo: readonly SuspensionTarget[];
	readonly stop: AbortSignal;
}

async function work({ task, todo, stop }: Write, { deps }: RunCall, run: OpenRun): Promise<RunResult> {
	const { name, suspend, suspension, dryRun } = task;
	const change: SuspensionChange = { suspend, annotation: suspend ? formatSuspension(suspension) : null };
	const note: SuspensionNote = {
		suspend,
		by: suspension.by,
		at: Date.parse(suspension.since),
		reason: suspension.reason,
		clusters: todo.map(({ cluster }) => cluster),
	};
	if (dryRun !== "client") {
		const refusals = await rehearse(todo, { change, note, stop });
		if (refusals.length > 0) {
			tellFailures(task, refusals, run);
			run.emit({ type: "diagnostic", level: "info", message: "Nothing was touched." });
			return { kind: "ended", failures: refusals };
		}
	}
	if (dryRun === "none") {
		const undo = unsuspendCommand(name, run.suggest);
		if (suspend) run.offer(() => ({ undo }));
		beforeSuspending(deps.env);
		const { failures } = await writeSuspension(todo, change, { rehearse: false, stop });
		if (failures.length > 0) {
			tellFailures(task, failures, run);
			if (suspend) await undoAll({ task, todo, stop }, { change, undo }, run);
			else tellHolds(task, failures, { again: undo }, run);
			return { kind: "ended", failures };
		}
		await Promise.all(
			todo.map(async (target) => {
				const problem = await tellSuspension(target, note, { rehearse: false });
				if (problem === undefined) return;
				const message = `the Event of budget ${formatBudgetName(name)} could not be written: ${problem}`;
				run.emit({ type: "diagnostic", level: "warning", context: target.context.name, message });
			}),
		);
		tellStood(task, todo, run);
		if (suspend) {
			const message = `budget ${formatBudgetName(name)} blocks no eviction until you run: ${undo}`;
			run.emit({ type: "diagnostic", level: "warning", message });
		}
		return { kind: "ended", failures: [] };
	}
	tellStood(task, todo, run);
	return { kind: "ended", failures: [] };
}

/** Checks, before anything is written, that the user may write the budget and the Event. */
async function rehearse(
	todo: readonly SuspensionTarget[],
	{
		change,
		note,
		stop,
	}: { readonly change: SuspensionChange; readonly note: SuspensionNote; readonly stop: AbortSignal },
): Promise<readonly MemberFailure[]> {
	const { failures, stood } = await writeSuspension(todo, change, { rehearse: true, stop });
	const untold = await Promise.all(
		stood.map(async (target): Promise<readonly MemberFailure[]> => {
			const problem = await tellSuspension(target, note, { rehearse: true });
			if (problem === undefined) return [];
			return [{ target, message: `the Event that tells of it could not be written: ${problem}`, unreachable: false }];
		}),
	);
	return [...failures, ...untold.flat()];
}

async function undoAll(
	{ task, todo }: Write,
	{ change, undo }: { readonly change: SuspensionChange; readonly undo: string },
	{ emit }: OpenRun,
): Promise<void> {
	const { name, targets } = task;
	const budget = formatBudgetName(name);
	const results = await takeBack(todo, change);
	for (const { target, suspended, message } of results) {
		const { context, cluster } = target;
		const known = suspended === undefined ? {} : { suspended };
		emit({ type: "budget.takenBack", context: context.name, cluster, budget, ...known, message });
	}
	const namesOf = (those: readonly { readonly target: SuspensionTarget }[]): string =>
		those.map(({ target }) => target.cluster).join(", ");
	const holding = results.filter(({ suspended }) => suspended === false);
	const left = results.filter(({ suspended }) => suspended !== false);
	const before = targets.filter(({ found }) => found.suspended).map((target) => ({ target }));
	if (left.length === 0) {
		const still = before.length === 0 ? "" : `, and suspended as before in ${namesOf(before)}`;
		const message = `budget ${budget} applies as before: it is not suspended in ${namesOf(holding)}${still}`;
		emit({ type: "diagnostic", level: "info", message });
		return;
	}
	const holds =
		holding.length === 0
			? "it may be suspended in the whole fleet"
			: `it applies in the whole fleet, because it is not suspended in ${namesOf(holding)}`;
	const message = `budget ${budget} may still be suspended in ${namesOf(left)}; ${holds}. To have it as before, run: ${undo}`;
	emit({ type: "diagnostic", level: "error", message });
}

/**
 * Names the members in which the budget may still be suspended. The changes stay, because one member without a suspension is enough for the
 * budget to apply.
 */
function tellHolds(
	{ name, targets }: SuspensionTask,
	failures: readonly MemberFailure[],
	{ again }: { readonly again: string },
	{ emit }: OpenRun,
): void {
	const left = new Set(failures.map(({ target }) => target));
	const holding = targets.filter((target) => !left.has(target)).map(({ cluster }) => cluster);
	const holds =
		holding.length === 0
			? "it may still be suspended in the whole fleet"
			: `it applies again in the whole fleet, because it is not suspended in ${holding.join(", ")}`;
	const names = [...left].map(({ cluster }) => cluster).join(", ");
	const message = `budget ${formatBudgetName(name)} may still be suspended in ${names}; ${holds}. To finish, run: ${again}`;
	emit({ type: "diagnostic", level: "error", message });
}

function tellFailures({ name, suspend }: SuspensionTask, failures: readonly MemberFailure[], { emit }: OpenRun): void {
	for (const { target, message } of failures) {
		const { context, cluster } = target;
		const budget = formatBudgetName(name);
		emit({ type: "budget.suspendFailed", context: context.name, cluster, budget, unsuspend: !suspend, message });
	}
}

function tellStood(task: SuspensionTask, written: readonly SuspensionTarget[], { emit }: OpenRun): void {
	const { name, suspend, targets, suspension, dryRun } = task;
	for (const target of targets) {
		const { context, cluster, found } = target;
		const already = !written.includes(target);
		const of = already ? found.suspension : suspend ? suspension : undefined;
		emit({
			type: suspend ? "budget.suspended" : "budget.unsuspended",
			context: context.name,
			cluster,
			budget: formatBudgetName(name),
			already,
			...(of && { suspension: of }),
			dryRun,
		});
	}
}
