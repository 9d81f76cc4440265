import { expect, test } from "vitest";
import { createMetrics } from "../../../agent/process/metrics.ts";
import { longestHoldMs } from "../../../agent/server/held-leases.ts";
import { leaseDurationMs } from "../../../disruption/lease/lease.ts";

test("metrics say when the certificate and the CA expire, as soon as they are known", async () => {
	const expiry = { certificateAt: new Date(1_900_000_000_000), caAt: new Date(2_000_000_000_000) };
	const metrics = createMetrics({ version: "0.1.0" });
	const name = "xpdb_certificate_expiry_timestamp_seconds";
	expect(await metrics.registry.getSingleMetricAsString(name)).not.toContain(`${name}{`);
	metrics.readFrom({ certificateExpiry: () => expiry });
	const text = await metrics.registry.getSingleMetricAsString(name);
	expect(text).toContain(`${name}{file="certificate"} 1900000000`);
	expect(text).toContain(`${name}{file="ca"} 2000000000`);
});

test("metrics show 0 for what the agent does not know yet, and keep what was told before", async () => {
	const metrics = createMetrics({ version: "0.1.0" });
	const names = ["xpdb_reservations", "xpdb_waiting_callers", "xpdb_budget_watchers", "xpdb_pods"];
	const valueOf = async (name: string) => (await metrics.registry.getSingleMetricAsString(name)).split(" ").at(-1);
	const all = () => Promise.all(names.map(valueOf));
	expect(await all()).toEqual(["0", "0", "0", "0"]);
	metrics.readFrom({ pods: () => 7 });
	metrics.readFrom({ reservations: () => 2, watchers: () => 1, waiting: () => 3 });
	expect(await all()).toEqual(["2", "3", "1", "7"]);
});

test("the histogram of held Leases has a bucket for the longest hold", async () => {
	const metrics = createMetrics({ version: "0.1.0" });
	const longestSeconds = (longestHoldMs + leaseDurationMs) / 1_000;
	metrics.heldSeconds.observe(longestSeconds);
	const text = await metrics.registry.getSingleMetricAsString("xpdb_lease_held_seconds");
	expect(text).toContain(`xpdb_lease_held_seconds_bucket{le="${longestSeconds}"} 1`);
	expect(text).toContain('xpdb_lease_held_seconds_bucket{le="120"} 0');
});

test("metrics say how long the watch on pods has been silent, and how long its list took", async () => {
	const metrics = createMetrics({ version: "0.2.0" });
	const [silent, list] = ["xpdb_view_silent_seconds", "xpdb_view_list_seconds"];
	expect(await metrics.registry.getSingleMetricAsString(silent)).toContain(`${silent} +Inf`);
	expect(await metrics.registry.getSingleMetricAsString(list)).not.toContain(`${list} 2`);
	metrics.readFrom({ viewSilentMs: () => 1_500, podListMs: () => 2_250 });
	expect(await metrics.registry.getSingleMetricAsString(silent)).toContain(`${silent} 1.5`);
	expect(await metrics.registry.getSingleMetricAsString(list)).toContain(`${list} 2.25`);
});
