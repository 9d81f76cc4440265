// One run of a scenario, from its choices to its verdict.
import type { HistoryEntry } from "./history.ts";
import type { Violation } from "./oracle.ts";
import { type Limits, noLimits, type Scenario } from "./scenario.ts";
import { type Choices, randomChoices, replayedChoices, type Step } from "./scheduler.ts";
import { fail, letRun, settle } from "./settling.ts";
import { randomTemper } from "./temper.ts";
import { World } from "./world.ts";
import { nextTimer, worldSteps } from "./world-steps.ts";

export interface RunResult {
	readonly violation: Violation | undefined;
	readonly steps: number;
	readonly evictions: number;
	/** That were ever there. */
	readonly pods: number;
	readonly history: readonly HistoryEntry[];
	readonly taken: readonly number[];
}

/** Longer than any run that gets on; those that do not are settled then. */
const mostSteps = 1_500;

export async function runRandom(
	scenario: Scenario<World>,
	seed: number,
	{ record = false }: { readonly record?: boolean } = {},
): Promise<RunResult> {
	const choices = randomChoices(seed);
	const temper = randomTemper(scenario, choices.random);
	const { limits, thinDrains, writtenHolds, splitAnswers, oneAgent } = temper;
	const world = new World(scenario, {
		choices,
		limits,
		thinDrains,
		writtenHolds,
		splitAnswers,
		oneAgent,
		keepsHistory: false,
		leaseCallsAtOnce: scenario.leaseCallsAtOnce ?? false,
		record,
	});
	for (;;) {
		await letRun(world);
		if (world.violation || isOver(world)) break;
		if (world.step >= mostSteps) {
			if (scenario.holdsBack) fail(world, `nothing came of ${mostSteps} steps`);
			break;
		}
		const steps = worldSteps(world);
		if (steps.length === 0 || (everybodyIsDone(world) && steps.every(({ kind }) => kind === "timer"))) break;
		temper.took(take(world, steps, choices, (step) => temper.weightOf(step)));
	}
	return ended(world, choices);
}

export interface SearchedRun extends RunResult {
	/** How many choices there were each time. */
	readonly widths: readonly number[];
	/** The run came to a state from which all has been explored. */
	readonly pruned: boolean;
	/** The run was longer than the search allows. */
	readonly cut: boolean;
}

/** One path of an exhaustive search: the choices of `prefix`, and the first one each time after it. */
export async function runSearched(
	scenario: Scenario<World>,
	prefix: readonly number[],
	options: {
		/** Told of every new state after the prefix; false where it has been there before. */
		readonly isNew: (fingerprint: string) => boolean;
		readonly mostSteps: number;
		readonly record?: boolean;
	},
): Promise<SearchedRun> {
	const choices = replayedChoices(prefix);
	const { limits: bounds = {}, leaseCallsAtOnce = false, isStaged = false, ...changes } = scenario.search ?? {};
	const limits: Limits = { ...noLimits, ...bounds };
	const { record = false } = options;
	const { holdsBack, ...unstaged } = scenario;
	const searched: Scenario<World> = { ...unstaged, ...changes, ...(isStaged && holdsBack && { holdsBack }) };
	const world = new World(searched, {
		choices,
		limits,
		thinDrains: true,
		writtenHolds: scenario.writtenHolds ?? true,
		splitAnswers: false,
		oneAgent: true,
		keepsHistory: true,
		leaseCallsAtOnce,
		record,
	});
	let pruned = false;
	let cut = false;
	for (;;) {
		await letRun(world);
		if (world.violation) break;
		if (choices.taken.length >= prefix.length && !options.isNew(world.fingerprint())) {
			pruned = true;
			break;
		}
		if (world.step >= options.mostSteps) {
			cut = true;
			break;
		}
		if (everybodyIsDone(world) && allHasHappened(world)) break;
		const steps = searchedSteps(world);
		if (steps.length === 0 || (everybodyIsDone(world) && steps.every(({ kind }) => kind === "timer"))) break;
		take(world, steps, choices, () => 1);
	}
	const result = pruned || cut ? resultOf(world, choices) : await ended(world, choices);
	return { ...result, widths: choices.widths, pruned, cut };
}

/** Timers only where nothing else is left to happen, and no bookmarks: both change nothing but when. */
function searchedSteps(world: World): readonly Step[] {
	const steps = worldSteps(world).filter(({ kind, what }) => kind !== "timer" && !what.startsWith("sees that no pod"));
	if (steps.some(({ kind }) => kind === "message" || kind === "watch")) return steps;
	const timer = nextTimer(world);
	return timer ? [timer] : steps;
}

function take(world: World, steps: readonly Step[], choices: Choices, weightOf: (step: Step) => number): Step {
	const step = steps.length === 1 ? steps[0] : steps[choices.pick(steps.map(weightOf))];
	if (!step) throw new Error("a choice among nothing");
	world.take(step);
	return step;
}

/** Everybody has done what there was to do, or is dead. Where a scenario is staged, all of it has happened, too. */
function isOver(world: World): boolean {
	return everybodyIsDone(world) && (!world.scenario.holdsBack || allHasHappened(world));
}

function allHasHappened(world: World): boolean {
	const { events = [] } = world.scenario;
	return events.every(({ name }) => world.times(name) > 0);
}

function everybodyIsDone(world: World): boolean {
	return world.drains.every((drain) => drain.finished || !drain.alive);
}

async function ended(world: World, choices: Choices): Promise<RunResult> {
	if (!world.violation) await settle(world);
	return resultOf(world, choices);
}

function resultOf(world: World, choices: Choices): RunResult {
	const { violation, step, history, oracle } = world;
	const pods = world.clusters.reduce((sum, { server }) => sum + server.podsMade, 0);
	return { violation, steps: step, evictions: oracle.evictions, pods, history, taken: choices.taken };
}
