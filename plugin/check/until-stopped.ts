// Rows of checks that somebody may not wait for to the end.

/** The rows until `signal` aborts: then it throws the signal's reason at once, whoever has not answered yet. */
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
