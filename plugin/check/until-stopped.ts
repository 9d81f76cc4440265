// Stops waiting for rows when the user interrupts the checks.

/** Yields rows until `signal` aborts, and then throws its reason without waiting for missing answers. */
export async function* untilStopped<T>(rows: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
	const stopped = new Promise<undefined>((resolve) => {
		signal.addEventListener("abort", () => resolve(undefined), { once: true });
	});
	const iterator = rows[Symbol.asyncIterator]();
	for (;;) {
		signal.throwIfAborted();
		const next = await Promise.race([iterator.next(), stopped]);
		signal.throwIfAborted();
		if (!next || next.done === true) return;
		yield next.value;
	}
}
