/** Returns undefined if `ends` aborts first. For read-only requests, because a later answer is ignored. */
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
