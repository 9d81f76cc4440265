// Cuts the port-forwards from plugins to agents every few seconds, as some load balancers and proxies do.
import { expect, test } from "vitest";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { startApiProxies } from "./api-proxies.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs, reservationLimitMs } from "./recovery-limits.ts";
import { startRollingEvictions } from "./rolling-evictions.ts";

/** Agents and plugins act at intervals of whole seconds, so these intervals differ from each other and from whole seconds. */
const cutEveryMs: Readonly<Record<string, number>> = { c1: 2_300, c2: 2_900, c3: 3_700 };
const evictionsMeanwhile = 6;

describeOnFleet("port-forwards that are cut every few seconds", () => {
	test("evictions go on meanwhile, and nothing is left behind", async () => {
		await using proxies = await startApiProxies((cluster) => `plugin->${cluster}`);
		await using evictions = await startRollingEvictions();
		let cut = 0;
		const timers = [...proxies.byCluster].map(([cluster, proxy]) =>
			setInterval(() => (cut += proxy.cutPortForwards()), cutEveryMs[cluster]),
		);
		try {
			for (let count = 0; count < evictionsMeanwhile; count += 1) {
				expect(await evictions.nextEvictionMs()).toBeLessThan(reservationLimitMs());
			}
		} finally {
			for (const timer of timers) clearInterval(timer);
		}
		expect(cut).toBeGreaterThan(2);
		expect(await evictions.nextEvictionMs()).toBeLessThan(leaseLimitMs());
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});
