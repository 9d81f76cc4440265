// Runs a scenario once, from its choices to its verdict.
import { abstractState } from "./abstract-state.ts";
import { AwaitStops, drawnStops, knownStops, type PlannedStop } from "./await-stops.ts";
import { isExcused } from "./excused-holes.ts";
import { Drain } from "./drain.ts";
import type { HistoryEntry } from "./history.ts";
import type { Violation } from "./oracle.ts";
import { seededRandom } from "./random.ts";
import { type Limits, noLimits, type Scenario } from "./scenario.ts";
import { type Choices, randomChoices, replayedChoices, type Step } from "./scheduler.ts";
import { fail, letRun, settle } from "./settling.ts";
import { drawStrategy } from "./strategies.ts";
import type { StrategyName } from "./strategy-name.ts";
import { World } from "./world.ts";
import { nextTimer, worldSteps } from "./world-steps.ts";

export interface RunResult {
	readonly violation: Violation | undefined;
	readonly steps: number;
	readonly evictions: number;
	/** Pods that ever existed. */
	readonly pods: number;
	readonly history: readonly HistoryEntry[];
	readonly taken: readonly number[];
}

export interface RandomRunResult extends RunResult {
	readonly strategy: StrategyName;
	/** Hashes of the abstract states that the run met. */
	readonly states: ReadonlySet<number>;
	readonly stops: readonly PlannedStop[];
}

export interface RandomRunOptions {
	readonly record?: boolean;
	/** If true, the run is settled (settling.ts). Otherwise one schedule in four is. */
	readonly settles?: boolean;
	readonly onStep?: (step: Step) => void;
}

/** Gives the properties of a schedule a random stream separate from that of its steps. */
const mannerSeed = 0x5bd1e995;
const stopsShare = 0.5;
const settledShare = 0.25;
/** Gives the wire a random stream of its own, so that the other choices are the same with and without it. */
const wireSeed = 0x2c1b3c6d;
/** A schedule over the wire takes 1.7 times the processor time. */
const wiredShare = 0.3;
const streamSeed = 0x7a3f19d5;
/** A schedule over streams takes more steps and reads JSON. */
const streamedShare = 0.25;

/** A run that is not staged ends here, as if all its processes were done. */
const mostSteps = 1_500;
/** A staged run that is longer makes no progress, and fails. A strategy that starves an agent's timers makes runs of 1,600 steps. */
const mostStagedSteps = 6_000;

/** Draws the world of a schedule and how its steps are chosen. `stops` are those of an earlier run. */
export function drawRun(
	scenario: Scenario<World>,
	seed: number,
	{ record = false, stops }: { readonly record?: boolean; readonly stops?: readonly PlannedStop[] } = {},
) {
	const choices = randomChoices(seed);
	const manner = seededRandom(seed ^ mannerSeed);
	const hasStops = manner() < stopsShare;
	const isSettled = manner() < settledShare;
	const strategy = drawStrategy(scenario, { draw: manner, random: choices.random });
	const { limits, thinDrains, writtenHolds, splitAnswers, oneAgent } = strategy;
	const sparesPlugins = isExcused("stopped", scenario.name);
	const awaitStops = new AwaitStops(
		stops ? knownStops(stops) : drawnStops(manner),
		(process) => sparesPlugins && process instanceof Drain,
	);
	const streamed = seededRandom(seed ^ streamSeed);
	const world = new World(scenario, {
		choices,
		limits,
		thinDrains,
		writtenHolds,
		splitAnswers,
		oneAgent,
		keepsHistory: false,
		leaseCallsAtOnce: scenario.leaseCallsAtOnce ?? false,
		// Staging waits for certain steps, and the wire adds steps to each call.
		isWired: scenario.isWired ?? (!scenario.holdsBack && seededRandom(seed ^ wireSeed)() < wiredShare),
		isStreamed: scenario.isStreamed ?? (!scenario.holdsBack && streamed() < streamedShare),
		streamsLists: scenario.streamsLists ?? streamed() < 0.5,
		stops: hasStops || stops ? awaitStops : undefined,
		record,
	});
	return { world, choices, strategy, isSettled };
}

export async function runRandom(
	scenario: Scenario<World>,
	seed: number,
	{ record = false, settles = false, onStep }: RandomRunOptions = {},
): Promise<RandomRunResult> {
	const { world, choices, strategy, isSettled } = drawRun(scenario, seed, { record });
	const states = new Set<number>();
	for (;;) {
		await letRun(world);
		if (world.violation || isOver(world)) break;
		states.add(abstractState(world));
		if (world.step >= (scenario.holdsBack ? mostStagedSteps : mostSteps)) {
			if (scenario.holdsBack) fail(world, `nothing came of ${mostStagedSteps} steps`);
			break;
		}
		const steps = worldSteps(world);
		if (steps.length === 0 || (everybodyIsDone(world) && steps.every(({ kind }) => kind === "timer"))) break;
		strategy.sees?.(steps);
		const step = take(world, steps, choices, (each) => strategy.weightOf(each));
		strategy.took(step);
		onStep?.(step);
	}
	const result = isSettled || settles ? await ended(world, choices) : resultOf(world, choices);
	return { ...result, strategy: strategy.name, states, stops: world.options.stops?.made ?? [] };
}

export interface SearchedRun extends RunResult {
	/** For each choice, the number of steps to choose from. */
	readonly widths: readonly number[];
	/** The run reached a state that the search had already entered. */
	readonly pruned: boolean;
	/** The run was longer than the search allows. */
	readonly cut: boolean;
}

/** Runs one path of an exhaustive search: the choices of `prefix`, then always the first one. */
export async function runSearched(
	scenario: Scenario<World>,
	prefix: readonly number[],
	options: {
		/** Called with every state after the prefix. Returns false if the search has been there before. */
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
		isWired: false,
		isStreamed: false,
		streamsLists: true,
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

/**
 * Returns the steps that a search tries. While a message or a watch step is left, these are all steps except timers and bookmarks, which
 * change only the timing. After that it is the next timer alone, or all steps that are left if there is no timer.
 */
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

/** Whether all plugins have finished or died and, in a staged scenario, all events have happened. */
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
