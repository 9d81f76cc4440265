/** On a terminal, the line is overwritten. In a log, at most one line is printed every ten seconds. */
export function createProgressLine(): { show(text: string): void; clear(): void } {
	const { stderr } = process;
	let shownAt = Number.NEGATIVE_INFINITY;
	return {
		show(text) {
			const now = performance.now();
			if (now - shownAt < (stderr.isTTY ? 200 : 10_000)) return;
			shownAt = now;
			stderr.write(stderr.isTTY ? `\r\x1b[K${text.slice(0, (stderr.columns ?? 80) - 1)}` : `${text}\n`);
		},
		clear() {
			if (stderr.isTTY) stderr.write("\r\x1b[K");
		},
	};
}
