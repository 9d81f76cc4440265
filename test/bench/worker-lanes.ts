/** Takes the items one after the other in as many lanes as there are; the time that it took, in milliseconds. */
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

/** One of each list in turn: the clusters' pods side by side. */
export function interleave<T>(lists: readonly (readonly T[])[]): readonly T[] {
	const longest = Math.max(...lists.map((list) => list.length));
	return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}
