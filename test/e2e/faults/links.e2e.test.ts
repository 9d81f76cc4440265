// Makes links fail in one or both directions while plugins in three clusters evict under one budget. Each plugin has one context, and
// reaches other clusters through that cluster's agents.
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { degradeLink, resetLinkEvery } from "../../controlplane/faults.ts";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";
import { type RollingEvictions, startRollingEvictions } from "./rolling-evictions.ts";

/** Longer than the 5 s after which a dead connection is detected. */
const holdMs = 6_000;

describeOnFleet("evictions go on within the lease time and 5 s after", () => {
	let evictions: RollingEvictions;
	beforeAll(async () => {
		evictions = await startRollingEvictions();
	});
	afterAll(async () => {
		await evictions?.[Symbol.asyncDispose]();
	});

	const links = [
		{ link: "plugin->c2", name: "a plugin and its API server" },
		{ link: "c2->c2", name: "agents and their API server" },
		{ link: "c1->c2", name: "the agents of two clusters" },
	];
	const faults = [
		{ name: "nothing that was sent arrived", start: { blackHole: "there" } },
		{ name: "no answer arrived", start: { blackHole: "back" } },
		{ name: "everything dripped", start: { bytesPerSecond: 500 } },
	] as const;
	for (const { link, name } of links) {
		for (const fault of faults) {
			test(`${fault.name} between ${name}`, async () => {
				const end = await degradeLink(fleetControl(), link, fault.start);
				await delay(holdMs);
				await end();
				expect(await evictions.nextEvictionMs()).toBeLessThan(leaseLimitMs());
			});
		}
		test(`connections were reset every second between ${name}`, async () => {
			const end = await resetLinkEvery(fleetControl(), link, 1_000);
			await delay(4_000);
			await end();
			expect(await evictions.nextEvictionMs()).toBeLessThan(leaseLimitMs());
		});
	}

	test("and nothing was violated or left behind", async () => {
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});
