// Lease writes by the audit logs of all clusters, for batches of ten pods: those that failed count too, and so do those that
// clean up afterwards.
import { setTimeout as delay } from "node:timers/promises";
import { readTimeline } from "../controlplane/audit.ts";
import type { Bench } from "./bench.ts";
import { openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { createRoomyWorkload } from "./workload.ts";

const batch = 10;
const batches = 10;
/** Idle budgets are swept after ten seconds, by a second agent after five more. */
const sweptAfterMs = 16_500;

export const writes: Measurement = {
	name: "writes",
	ratios: ["writes_per_eviction"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	async measure(bench, runs) {
		await using workload = await createRoomyWorkload(bench, 40);
		const perEviction: number[] = [];
		const details: object[] = [];
		for (let run = 1; run <= runs; run += 1) {
			const engine = await openEvictor(bench);
			await workload.ready();
			const pods = [...(await benchPods(workload))];
			const before = await countLeaseWrites(bench);
			for (let count = 0; count < batches; count += 1) {
				await Promise.all(pods.splice(0, batch).map((pod) => engine.evict(pod)));
			}
			const evicting = await countLeaseWrites(bench);
			await delay(sweptAfterMs);
			const after = await countLeaseWrites(bench);
			await engine.close();
			const evictions = batch * batches;
			perEviction.push((after.all - before.all) / evictions);
			details.push({
				writes: after.all - before.all,
				conflicts: after.conflicts - before.conflicts,
				whileEvicting: evicting.all - before.all,
			});
			bench.log(
				`  run ${run}: ${after.all - before.all} writes for ${evictions} evictions, ` +
					`${after.conflicts - before.conflicts} of them conflicts, ${after.all - evicting.all} to clean up`,
			);
		}
		return { ratios: { writes_per_eviction: perEviction }, details: { batch, eachRun: details } };
	},
};

async function countLeaseWrites({ fleet }: Bench): Promise<{ readonly all: number; readonly conflicts: number }> {
	const events = await readTimeline(fleet.clusters);
	const leases = events.filter(({ resource, name }) => resource === "leases" && name.startsWith("xpdb-"));
	return { all: leases.length, conflicts: leases.filter(({ code }) => code === 409).length };
}
