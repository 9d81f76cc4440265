// How long others may be held up by whoever falls silent, and an eviction that must come through in that time.
import { expect } from "vitest";
import type { Database, Pod } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { here } from "./faults/recovery-limits.ts";
import { plugin } from "./plugin-process.ts";

export const leaseMs = 10_000;
export const reservationMs = 30_000;
/** Starting the plugin, a round on two busy cores, the sweep's period. */
export const marginMs = 8_000;

/** From now until the API server was asked for the eviction: how soon a pod ends is not ours. */
export async function evictedWithin(database: Database, pod: Pod | undefined, ms: number): Promise<void> {
	const startedAt = Date.now();
	const result = await plugin(evictArgs(database, pod, "--timeout", "4m"));
	const limitMs = here(ms);
	expect(result.code, result.stdout + result.stderr).toBe(0);
	const evicted = (await database.samples()).find(({ change, uid }) => change === "evicted" && uid === pod?.uid);
	expect((evicted?.at ?? Number.NaN) / 1_000 - startedAt, result.stdout + result.stderr).toBeLessThan(limitMs);
}
