// Questions to one cluster, asked side by side: what is told of a refusal is the same in every run, whichever answer came first.

/** As Promise.all, but waits for every answer, and rejects with what the first refused question of the list got. */
export async function allInOrder<const T extends readonly unknown[]>(
	answers: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
	await Promise.allSettled(answers);
	return Promise.all(answers);
}
