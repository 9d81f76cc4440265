// What is said of a budget by whoever judges it: a round, a plan and an explanation say the same in the same words.

interface Numbers {
	/** Pods that must stay healthy. */
	readonly need?: number | undefined;
	readonly healthy?: number | undefined;
	readonly expected?: number | undefined;
}

/** At this moment; `name` as NAMESPACE/NAME. */
export function exhaustedText(name: string, { need, healthy, expected }: Numbers): string {
	return expected === 0
		? `budget ${name} expects no pods, its controllers are scaled to 0: that allows nothing`
		: `budget ${name} needs ${need} healthy, has ${healthy}`;
}

/** Whatever becomes healthy: `healthy` are as many as there could be. */
export function neverMetText(name: string, bound: string, { need, healthy, expected }: Numbers): string {
	const all = expected === undefined ? `and at best has ${healthy}` : `of ${expected} expected pods`;
	return `budget ${name} with ${bound} needs ${need} healthy ${all}: that leaves none to disrupt`;
}
