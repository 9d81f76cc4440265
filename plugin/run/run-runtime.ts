import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import { runClock } from "../kubernetes/run-clock.ts";

export function createRunRuntime(onLeftBehind: Required<RoundRuntime>["onLeftBehind"]): RoundRuntime {
	return { now: runClock, newId: () => randomUUID(), sleep, onLeftBehind };
}

/** Also resolves when the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
	try {
		await delay(ms, undefined, { signal });
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
