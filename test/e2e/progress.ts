// Limits how long a silent run or agent may delay others.
import { expect } from "vitest";
import type { Database, Pod } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { here } from "./faults/recovery-limits.ts";
import { plugin } from "./plugin-process.ts";

export const leaseMs = 10_000;
export const reservationMs = 30_000;
/** For starting the plugin, a round on a busy machine, and the period of the sweep. */
export const marginMs = 8_000;

/** Evicts a pod. Checks the time until the API server received the request, not until the pod ended. */
export async function evictedWithin(database: Database, pod: Pod | undefined, ms: number): Promise<void> {
	const startedAt = Date.now();
	const result = await plugin(evictArgs(database, pod, "--timeout", "4m"));
	const limitMs = here(ms);
	expect(result.code, result.stdout + result.stderr).toBe(0);
	const evicted = (await database.samples()).find(({ change, uid }) => change === "evicted" && uid === pod?.uid);
	expect((evicted?.at ?? Number.NaN) / 1_000 - startedAt, result.stdout + result.stderr).toBeLessThan(limitMs);
}
