// Waits for parallel requests to one cluster, so that the reported failure does not depend on which answer came first.

/** Like Promise.all, but waits for every answer, and rejects with the failure that comes first in the list. */
export async function allInOrder<const T extends readonly unknown[]>(
	answers: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
	await Promise.allSettled(answers);
	return Promise.all(answers);
}
