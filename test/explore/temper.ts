// The temper of a random run: its faults, its slow processes and the lag of its views. It is drawn for every run, because equally wild runs
// would never meet what happens only in quiet ones.
import { type Limits, noLimits, type Scenario } from "./scenario.ts";
import type { Step, StepKind } from "./scheduler.ts";
import type { World } from "./world.ts";

export interface Temper {
	readonly limits: Limits;
	readonly thinDrains: boolean;
	readonly writtenHolds: boolean;
	readonly splitAnswers: boolean;
	readonly oneAgent: boolean;
	/** Gets all possible next steps, before each is weighed. */
	sees?(steps: readonly Step[]): void;
	weightOf(step: Step): number;
	/** Called when a step was taken. It can make a process slow or fast. */
	took(step: Step): void;
}

const speeds = [0.005, 0.1, 1, 1, 10];
/** The weights that a run can give to a kind of step. */
const kindWeights: Readonly<Record<StepKind, readonly number[]>> = {
	message: [1],
	late: [0.02, 0.2, 1],
	fault: [0.005, 0.03, 0.1],
	timer: [0.02, 0.2],
	jump: [0.02, 0.1, 0.3],
	watch: [0.02, 0.3, 3],
	kubelet: [0.03, 0.4],
	agent: [0.03, 0.2, 0.6],
	event: [0.03, 0.2, 0.6],
};

export function randomTemper(scenario: Scenario<World>, random: () => number): Temper {
	const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
	const isStaged = scenario.holdsBack !== undefined;
	const limits: Record<keyof Limits, number> = { ...noLimits };
	for (const [limit, most] of Object.entries(scenario.limits)) {
		limits[limit as keyof Limits] = isStaged ? most : random() < 0.35 ? 0 : Math.ceil(random() * most);
	}
	const weights = new Map<StepKind, number>();
	/** By actor, because each view has its own lag. */
	const watchWeights = new Map<string, number>();
	const drawn = <K>(from: Map<K, number>, key: K, kind: StepKind): number => {
		let weight = from.get(key);
		if (weight === undefined) from.set(key, (weight = one(kindWeights[kind])));
		return weight;
	};
	const actors = new Map<string, number>();
	const moody = one([0, 0.02, 0.1]);
	let timers = 0;
	return {
		limits,
		thinDrains: random() < 0.4 && (scenario.hasThinRuns ?? false),
		splitAnswers: random() < 0.3 || (scenario.splitAnswers ?? false),
		oneAgent: random() < 0.4,
		writtenHolds: (random() < 0.5 || scenario.writtenHolds === true) && scenario.writtenHolds !== false,
		weightOf: ({ kind, actor }) => {
			let speed = actors.get(actor);
			if (speed === undefined) actors.set(actor, (speed = moody === 0 ? 1 : one(speeds)));
			if (kind === "watch") return drawn(watchWeights, actor, kind) * speed;
			// Each timer in a row weighs less. Otherwise timers would fill a run in which all other steps are slow.
			return (drawn(weights, kind, kind) * speed) / (kind === "timer" ? 4 ** timers : 1);
		},
		took: ({ kind }) => {
			timers = kind === "timer" ? timers + 1 : 0;
			if (random() < moody) actors.set(one([...actors.keys()]), one(speeds));
		},
	};
}
