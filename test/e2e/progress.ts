// How long others may be held up by whoever falls silent, and an eviction that must come through in that time.
import { expect } from "vitest";
import type { Database, Pod } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { plugin } from "./plugin-process.ts";

export const leaseMs = 10_000;
export const reservationMs = 30_000;
/** Starting the plugin, a round on two busy cores, the sweep's period. */
export const marginMs = 8_000;

export async function evictedWithin(database: Database, pod: Pod | undefined, ms: number): Promise<void> {
	const startedAt = performance.now();
	const result = await plugin(evictArgs(database, pod, "--timeout", `${Math.ceil(ms / 1000)}s`));
	expect(result.code, result.stdout + result.stderr).toBe(0);
	expect(performance.now() - startedAt).toBeLessThan(ms);
}
