// Freezes or kills parts of a control plane while plugins in three clusters evict under one budget.
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freezeComponent, killComponent } from "../../controlplane/faults.ts";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";
import { type RollingEvictions, startRollingEvictions } from "./rolling-evictions.ts";

describeOnFleet("evictions go on within the lease time and 5 s after", () => {
	let evictions: RollingEvictions;
	beforeAll(async () => {
		evictions = await startRollingEvictions();
	});
	afterAll(async () => {
		await evictions?.[Symbol.asyncDispose]();
	});

	const faults = [
		{ name: "an API server was frozen for 10 s", start: freezeComponent, component: "apiserver", forMs: 10_000 },
		{ name: "an API server was killed and started again", start: killComponent, component: "apiserver", forMs: 2_000 },
		{ name: "an etcd was killed and started again", start: killComponent, component: "etcd", forMs: 2_000 },
	] as const;
	for (const { name, start, component, forMs } of faults) {
		test(name, async () => {
			const end = await start(fleetControl(), { cluster: "c2", component });
			await delay(forMs);
			await end();
			expect(await evictions.nextEvictionMs()).toBeLessThan(leaseLimitMs());
		});
	}

	test("and nothing was violated or left behind", async () => {
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});
