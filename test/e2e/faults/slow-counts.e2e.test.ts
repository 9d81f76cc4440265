// Tests API servers so slow that the counts of all clusters, one after the other, take longer than a new Lease holder may go without a
// call.
import { expect, test } from "vitest";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { startApiProxies } from "./api-proxies.ts";
import { findLeftBehind } from "./left-behind.ts";
import { startRollingEvictions } from "./rolling-evictions.ts";

const countMs = 1_400;

describeOnFleet("API servers that are slow to answer", () => {
	test("those who race for one budget go on, and take nothing from each other for ever", async () => {
		await using evictions = await startRollingEvictions({ replicas: 2 });
		await using proxies = await startApiProxies((cluster) => `${cluster}->${cluster}`);
		let slowed = 0;
		for (const proxy of proxies.byCluster.values()) {
			// Agents read StatefulSets only for counts.
			proxy.delayMs = ({ kind }) => {
				if (kind !== "GET statefulsets") return 0;
				slowed += 1;
				return countMs;
			};
		}
		// nextEvictionMs() rejects after two minutes.
		for (let evicted = 0; evicted < 2; evicted += 1) await evictions.nextEvictionMs();
		for (const proxy of proxies.byCluster.values()) proxy.delayMs = () => 0;
		expect(slowed).toBeGreaterThan(6);
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});
