/** Processes the items in order, up to `lanes` at a time. Returns milliseconds. */
export async function inLanes<T>(
	lanes: number,
	items: readonly T[],
	work: (item: T) => Promise<void>,
): Promise<number> {
	const rest = [...items];
	const startedAt = performance.now();
	await Promise.all(
		Array.from({ length: lanes }, async () => {
			for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
		}),
	);
	return performance.now() - startedAt;
}

/** Merges the lists by taking one item of each in turn. */
export function interleave<T>(lists: readonly (readonly T[])[]): readonly T[] {
	const longest = Math.max(...lists.map((list) => list.length));
	return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}
