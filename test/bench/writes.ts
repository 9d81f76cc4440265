// Counts Lease writes in the audit logs of all clusters, for batches of ten evictions. Includes failed writes and later clean-ups.
import { setTimeout as delay } from "node:timers/promises";
import { readTimeline } from "../../demo/audit/audit.ts";
import { leaseName } from "../../disruption/lease/lease.ts";
import type { Bench } from "./bench.ts";
import { openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { createRoomyWorkload } from "./workload.ts";

const batch = 10;
const batches = 10;
const smallBatches = 2;
/** Idle budgets are swept after 10 s, by the second agent 5 s later. */
const sweptAfterMs = 16_500;

export const writes: Measurement = {
	name: "writes",
	ratios: ["writes_per_eviction"],
	on: "fleet",
	// The count is the same in each run.
	runs: { full: 1, short: 1 },
	seconds: { once: 17, each: 20 },
	async measure(bench, runs) {
		const times = bench.isSmall ? smallBatches : batches;
		await using stack = new AsyncDisposableStack();
		const measured: { readonly lease: string; readonly before: LeaseWrites; readonly evicting: LeaseWrites }[] = [];
		for (let run = 1; run <= runs; run += 1) {
			// Each run has its own budget, so that one wait covers the clean-up of all.
			const workload = stack.use(await createRoomyWorkload(bench, bench.isSmall ? 12 : 40));
			const lease = leaseName({ namespace: workload.namespace, name: "web-0" });
			const engine = await openEvictor(bench);
			stack.defer(() => engine.close());
			const pods = [...(await benchPods(workload))];
			const evictBatch = () => Promise.all(pods.splice(0, batch).map((pod) => engine.evict(pod)));
			// Not counted: the first batch creates the Lease.
			await evictBatch();
			const before = await countWrites(bench, lease);
			for (let count = 0; count < times; count += 1) await evictBatch();
			measured.push({ lease, before, evicting: await countWrites(bench, lease) });
		}
		await delay(sweptAfterMs);
		const evictions = batch * times;
		const perEviction: number[] = [];
		const details: object[] = [];
		for (const { lease, before, evicting } of measured) {
			const after = await countWrites(bench, lease);
			const writes = after.all - before.all;
			const conflicts = after.conflicts - before.conflicts;
			perEviction.push(writes / evictions);
			details.push({ writes, conflicts, whileEvicting: evicting.all - before.all });
			bench.log(
				`  run ${details.length}: ${writes} writes for ${evictions} evictions, ${conflicts} of them conflicts, ` +
					`${after.all - evicting.all} to clean up`,
			);
		}
		return { ratios: { writes_per_eviction: perEviction }, details: { batch, eachRun: details } };
	},
};

interface LeaseWrites {
	readonly all: number;
	readonly conflicts: number;
}

async function countWrites({ fleet }: Bench, lease: string): Promise<LeaseWrites> {
	const events = await readTimeline(fleet.clusters);
	const writes = events.filter(({ resource, name }) => resource === "leases" && name === lease);
	return { all: writes.length, conflicts: writes.filter(({ code }) => code === 409).length };
}
