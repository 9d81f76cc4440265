// Shortens a failing schedule for people. It keeps steps, named by actor and call, that still break the same rule. Between them, messages,
// watches and resumed processes take their usual order, so only steps out of that order are listed.
import { formatHistory } from "./history.ts";
import { drawRun, runRandom } from "./run.ts";
import type { Scenario } from "./scenario.ts";
import type { Step } from "./scheduler.ts";
import { letRun, settle } from "./settling.ts";
import type { World } from "./world.ts";
import { worldSteps } from "./world-steps.ts";

export interface Shrunk {
	/** The number of steps of the original schedule. */
	readonly steps: number;
	/** The steps of the short schedule that are out of the usual order. */
	readonly kept: readonly string[];
	readonly runs: number;
	/** The whole short schedule, as a table. */
	readonly table: string;
	/** Undefined if the names of the steps alone do not make the schedule fail again. */
	readonly message: string | undefined;
}

/** The most runs of one shrinking. Each takes some milliseconds. */
const mostRuns = 400;
/** The most steps of a run by names, before it is settled. */
const mostSteps = 400;
/** How many steps in the usual order to take while waiting for a step. After that, the step is skipped as impossible. */
const mostWaits = 12;

export async function shrink(scenario: Scenario<World>, seed: number): Promise<Shrunk> {
	const labels: string[] = [];
	const first = await runRandom(scenario, seed, { settles: true, onStep: (step) => void labels.push(labelOf(step)) });
	const rule = first.violation?.rule;
	const { stops } = first;
	let runs = 0;
	const run = async (kept: readonly string[], record = false): Promise<World> => {
		runs += 1;
		const { world } = drawRun(scenario, seed, { record, stops });
		await follow(world, kept);
		return world;
	};
	const fails = async (kept: readonly string[]): Promise<boolean> => {
		return rule !== undefined && runs < mostRuns && (await run(kept)).violation?.rule === rule;
	};
	let kept: readonly string[] = labels;
	if (await fails(kept)) {
		for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
			for (let from = 0; from < kept.length; ) {
				const fewer = kept.toSpliced(from, size);
				if (await fails(fewer)) kept = fewer;
				else from += size;
			}
		}
	}
	const { violation, history } = await run(kept, true);
	const isSame = violation?.rule === rule;
	return {
		steps: first.steps,
		kept,
		runs,
		table: formatHistory(history),
		message: isSame ? violation?.message : undefined,
	};
}

/** Takes these steps in their order, each as soon as it can happen. A step that cannot happen is skipped. */
async function follow(world: World, labels: readonly string[]): Promise<void> {
	let at = 0;
	let waits = 0;
	while (world.step < mostSteps) {
		await letRun(world);
		if (world.violation) return;
		const steps = worldSteps(world);
		const wanted = labels[at];
		const found = wanted === undefined ? undefined : steps.find((step) => labelOf(step) === wanted);
		if (found) {
			at += 1;
			waits = 0;
			world.take(found);
			continue;
		}
		// Steps that come later in the list wait for their turn.
		const later = new Set(labels.slice(at));
		const next = steps.find((step) => isUsual(step) && !later.has(labelOf(step)));
		if (wanted !== undefined && (!next || (waits += 1) > mostWaits)) {
			at += 1;
			waits = 0;
			continue;
		}
		if (!next) break;
		world.take(next);
	}
	await settle(world);
}

/** Whether the step happens by itself: a message on its way, a watch, or a stopped process that is resumed. */
function isUsual({ kind, what }: Step): boolean {
	return kind === "message" || kind === "watch" || what.startsWith("goes on at ");
}

/** Names the step without versions and ids, which differ if less has happened before. */
function labelOf({ actor, what }: Step): string {
	const call = what
		.replace(/\(uid[^)]*\)/, "")
		.replace(/(acquisition|MODIFIED|ADDED|DELETED|until) \d+/g, "$1")
		.replace(/ as [\w.-]+/g, "")
		.replace(/\b[\w-]+\.\d+\b/g, "#");
	return `${actor}: ${call}`;
}
