// A failing schedule made short enough for a person to read: its steps by actor and call, as few of them as still break the same
// rule. Between those that are left the oldest message comes first, so that only what is out of the usual order has to be said.
import { formatHistory } from "./history.ts";
import { drawRun, runRandom } from "./run.ts";
import type { Scenario } from "./scenario.ts";
import type { Step } from "./scheduler.ts";
import { letRun, settle } from "./settling.ts";
import type { World } from "./world.ts";
import { worldSteps } from "./world-steps.ts";

export interface Shrunk {
	/** Steps of the schedule as it was found. */
	readonly steps: number;
	/** Those that are out of the usual order in the short one. */
	readonly kept: readonly string[];
	readonly runs: number;
	/** The short one whole, as a table. */
	readonly table: string;
	/** Undefined where it does not fail again by the names of its steps alone. */
	readonly message: string | undefined;
}

/** Those of one shrinking; each takes some milliseconds. */
const mostRuns = 400;
/** Of a run by names: shorter ones fail before. */
const mostSteps = 400;
/** Steps in the usual order that a step waits for, before it is taken for one that can not happen any more. */
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

/** Takes these steps in their order, each as soon as it can happen; one that cannot is passed over. */
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
		// What comes later among them is kept back for its turn.
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

/** It happens by itself: a message on its way, a watch, and a stopped process that goes on. */
function isUsual({ kind, what }: Step): boolean {
	return kind === "message" || kind === "watch" || what.startsWith("goes on at ");
}

/** Without versions and ids, which are others where less has happened before. */
function labelOf({ actor, what }: Step): string {
	const call = what
		.replace(/\(uid[^)]*\)/, "")
		.replace(/(acquisition|MODIFIED|ADDED|DELETED|until) \d+/g, "$1")
		.replace(/ as [\w.-]+/g, "")
		.replace(/\b[\w-]+\.\d+\b/g, "#");
	return `${actor}: ${call}`;
}
