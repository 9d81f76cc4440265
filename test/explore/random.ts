// Seeded randomness: the same seed gives the same numbers on every machine.

/** Returns a function that gives numbers from 0 to below 1 (mulberry32, by Tommy Ettinger, public domain). */
export function seededRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** Different base seeds, scenarios and indexes give different seeds, except by a rare coincidence. */
export function scheduleSeed(base: number, scenario: string, index: number): number {
	let hash = 0x811c9dc5;
	for (const character of `${scenario} ${base}`) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
	return (hash + Math.imul(index, 0x9e3779b1)) >>> 0;
}
