/** Returns the answer to a question that changes nothing. Undefined if `ends` aborts first. A later answer is ignored. */
export async function unlessOver<T>(question: Promise<T>, ends: AbortSignal): Promise<T | undefined> {
	const { promise: over, resolve } = Promise.withResolvers<undefined>();
	const end = (): void => resolve(undefined);
	ends.addEventListener("abort", end, { once: true });
	if (ends.aborted) end();
	try {
		return await Promise.race([question, over]);
	} finally {
		ends.removeEventListener("abort", end);
	}
}
