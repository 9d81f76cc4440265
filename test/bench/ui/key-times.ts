// Measures the time from a key to the frame that answers it.
import { setTimeout as delay } from "node:timers/promises";
import type { BenchScreen } from "./screen.ts";

/** Slower than the repetition of a key that is held down. */
const pauseMs = 100;

/** Returns the milliseconds of each key. The keys move the selection down. */
export async function keyTimes({ terminal }: BenchScreen, keys: number): Promise<readonly number[]> {
	const selected = (): string | undefined => terminal.screen.lines.find((line) => line.startsWith("> "))?.split(" ")[1];
	const times: number[] = [];
	for (let key = 0; key < keys; key += 1) {
		const before = selected();
		const startedAt = performance.now();
		terminal.press("j");
		await terminal.until(() => {
			const now = selected();
			return now !== undefined && now !== before;
		});
		times.push(performance.now() - startedAt);
		await delay(pauseMs);
	}
	return times;
}
