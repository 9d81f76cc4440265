// Measures the time from a key to the frame that shows its effect.
import { setTimeout as delay } from "node:timers/promises";
import type { BenchScreen } from "./screen.ts";

/** Longer than the repeat interval of a held key. */
const pauseMs = 100;

/** Moves the selection down with each key. Returns the milliseconds of each. */
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
