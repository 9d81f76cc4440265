// Ways to choose the next step. Each schedule draws one from its own seed, so that `--replay` needs nothing else. In measurements against
// known holes, no strategy found all of them.
import { type Limits, noLimits, type Scenario } from "./scenario.ts";
import type { Step } from "./scheduler.ts";
import { type StrategyName, strategyNames, strategyShares } from "./strategy-name.ts";
import { randomTemper, type Temper } from "./temper.ts";
import type { World } from "./world.ts";

type Random = () => number;

/** Changes the weights or the limits of a temper. */
type Layer = (inner: Temper, random: Random, scenario: Scenario<World>) => Temper;

/** About the length of most runs. A length learned from earlier runs would break replay by seed. */
const typicalSteps = 150;
/** An event or a fault of one kind can happen at about this many steps of a run. */
const typicalChances = 40;

/** Almost no weight against other steps. The step is still taken if there is no other. */
const never = 1e-7;

/** Whether no caller waits for the step: a fault, a jump, or something that an agent or a person does. */
function isBesides({ kind }: Step): boolean {
	return kind === "fault" || kind === "jump" || kind === "agent" || kind === "event";
}

/**
 * Returns the key under which steps count as the same: the name of an event, the text of a fault without its place, otherwise the kind and
 * the actor.
 */
function besidesKey({ kind, what, actor }: Step): string {
	if (kind === "event") return what;
	if (kind === "fault") return what.replace(/ (at|in) .*|, .*/, "");
	return `${kind} ${actor}`;
}

/** How often the steps of one besidesKey() are due in a run, drawn with equal chances. Events are due at least once. */
const timesOfEach = [0, 1, 1, 1, 2];

/** Draws in advance at which of its chances each event, fault, jump or work of an agent happens. Weights alone would favour early steps. */
const evenChances: Layer = (inner, random) => {
	const chosen = new Map<string, number[]>();
	const met = new Map<string, number>();
	/**
	 * Draws at which of its chances an event or fault happens. Most events have few chances, so short ranges are drawn as often as long
	 * ones.
	 */
	const drawn = (): number => random() * typicalChances ** random();
	return {
		...inner,
		sees: (steps) => {
			const now = new Set<string>();
			for (const step of steps) {
				if (!isBesides(step)) continue;
				const key = besidesKey(step);
				if (now.has(key)) continue;
				now.add(key);
				met.set(key, (met.get(key) ?? 0) + 1);
				if (chosen.has(key)) continue;
				const drawnTimes = timesOfEach[Math.floor(random() * timesOfEach.length)] ?? 1;
				const times = step.kind === "event" ? Math.max(drawnTimes, 1) : drawnTimes;
				chosen.set(
					key,
					Array.from({ length: times }, drawn).toSorted((a, b) => a - b),
				);
			}
			inner.sees?.(steps);
		},
		weightOf: (step) => {
			if (!isBesides(step)) return inner.weightOf(step);
			const key = besidesKey(step);
			return (met.get(key) ?? 0) >= (chosen.get(key)?.[0] ?? Number.POSITIVE_INFINITY) ? 5 : never;
		},
		took: (step) => {
			if (isBesides(step)) chosen.get(besidesKey(step))?.shift();
			inner.took(step);
		},
	};
};

const laneSpeeds = [0.001, 0.03, 1, 1, 1, 10];

/** Messages of the same sender, call and cluster are fast or slow together. So are the lines of each watch. */
const lanes: Layer = (inner, random) => {
	const factors = new Map<string, number>();
	const laneOf = ({ kind, actor, what }: Step): string => {
		if (kind === "watch") return `${actor} sees ${what.split(" ")[1] ?? ""}`;
		return `${actor} ${what.slice(0, what.indexOf(" "))} ${what.slice(what.lastIndexOf(" ") + 1)}`;
	};
	return {
		...inner,
		weightOf: (step) => {
			const weight = inner.weightOf(step);
			if (step.kind !== "watch" && step.kind !== "message") return weight;
			const lane = laneOf(step);
			let factor = factors.get(lane);
			if (factor === undefined) factors.set(lane, (factor = laneSpeeds[Math.floor(random() * laneSpeeds.length)] ?? 1));
			return weight * factor;
		},
	};
};

/** Three times in a run, one process does nothing for a long time, while all others continue. */
const starving: Layer = (inner, random) => {
	const plan = Array.from({ length: 3 }, () => {
		const from = random() * typicalSteps;
		return { from, to: from + random() * typicalSteps, victim: random(), actor: undefined as string | undefined };
	});
	const actors = new Set<string>();
	let taken = 0;
	return {
		...inner,
		sees: (steps) => {
			for (const { kind, actor } of steps) if (kind === "message" || kind === "watch") actors.add(actor);
			for (const window of plan) {
				if (taken >= window.from) window.actor ??= [...actors][Math.floor(window.victim * actors.size)];
			}
			inner.sees?.(steps);
		},
		weightOf: (step) => {
			const starves = plan.some(({ from, to, actor }) => taken >= from && taken < to && step.actor === actor);
			return inner.weightOf(step) * (starves && !isBesides(step) ? 1e-5 : 1);
		},
		took: (step) => {
			taken += 1;
			inner.took(step);
		},
	};
};

/** Many runs have no fault, and many have faults of one kind only, so that one fault does not hide the effect of another. */
const fewKinds: Layer = (inner, random, { limits, holdsBack }) => {
	const kinds = Object.entries(limits);
	if (holdsBack || kinds.length === 0) return inner;
	const keep = (some: readonly (readonly [string, number])[]): Temper => {
		const kept: Record<string, number> = { ...noLimits };
		for (const [kind, most] of some) kept[kind] = 1 + Math.floor(random() * most);
		// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all kinds of limits, and no other
		return { ...inner, limits: kept as unknown as Limits };
	};
	const dice = random();
	if (dice < 0.25) return keep([]);
	if (dice < 0.6) return keep(kinds.slice(Math.floor(random() * kinds.length)).slice(0, 1));
	if (dice < 0.75) return keep(kinds.filter(() => random() < 0.5));
	return inner;
};

/** The layers of each strategy, from the inside out. */
const layersOf: Readonly<Record<StrategyName, readonly Layer[]>> = {
	weighted: [],
	even: [evenChances],
	"even-lanes": [evenChances, lanes],
	"even-starving": [evenChances, starving],
	swarm: [fewKinds],
};

export interface Strategy extends Temper {
	readonly name: StrategyName;
}

/** `draw` is a separate random stream, which chooses the strategy's name. */
export function drawStrategy(
	scenario: Scenario<World>,
	{ draw, random }: { readonly draw: Random; readonly random: Random },
): Strategy {
	const name = drawName(draw);
	const temper = layersOf[name].reduce<Temper>(
		(inner, layer) => layer(inner, random, scenario),
		randomTemper(scenario, random),
	);
	return { ...temper, name };
}

function drawName(random: Random): StrategyName {
	let rest = random() * 100;
	for (const name of strategyNames) if ((rest -= strategyShares[name]) < 0) return name;
	return "weighted";
}
