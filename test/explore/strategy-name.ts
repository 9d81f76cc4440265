// The names of the strategies in strategies.ts, and how often each is drawn.

export type StrategyName = "weighted" | "even" | "even-lanes" | "even-starving" | "swarm";

/** How many of a hundred schedules each strategy gets. */
export const strategyShares: Readonly<Record<StrategyName, number>> = {
	weighted: 50,
	even: 20,
	"even-lanes": 10,
	"even-starving": 10,
	swarm: 10,
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record
export const strategyNames = Object.keys(strategyShares) as readonly StrategyName[];
