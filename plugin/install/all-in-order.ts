// Waits for parallel requests to one cluster. If several fail, the same failure is reported in every run, whichever answer came first.

/** Like Promise.all, but waits for every answer, and rejects with the failure that comes first in the list. */
export async function allInOrder<const T extends readonly unknown[]>(
	answers: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
	await Promise.allSettled(answers);
	return Promise.all(answers);
}
