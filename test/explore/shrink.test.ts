import { expect, test } from "vitest";
import type { Scenario } from "./scenario.ts";
import { cluster, drain } from "./scenario-parts.ts";
import { shrink } from "./shrink.ts";
import type { World } from "./world.ts";

/** Fails if the second event comes after the first one, whatever else happens. */
const failing: Scenario<World> = {
	name: "failing",
	about: "Two events in an order",
	clusters: [cluster("c1", 3), cluster("c2", 2)],
	drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"])],
	events: [
		{ name: "it is opened", run: () => undefined },
		{
			name: "it is closed",
			when: (world) => world.times("it is opened") > 0,
			run: (world) => {
				world.violation = { rule: "budget", message: "it was closed after it was opened" };
			},
		},
	],
	limits: { agentJumps: 2, drainJumps: 2 },
	afterEviction: "stays",
};

test("shrink() leaves the steps without which the schedule does not fail", async () => {
	const { steps, kept, message } = await shrink(failing, 7);
	expect(message).toBe("it was closed after it was opened");
	expect(steps).toBeGreaterThan(2);
	expect(kept).toEqual(["somebody: it is opened", "somebody: it is closed"]);
});
