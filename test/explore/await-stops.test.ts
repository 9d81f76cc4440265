import { describe, expect, test } from "vitest";
import { AwaitStops, knownStops, type PlannedStop } from "./await-stops.ts";
import type { Step } from "./scheduler.ts";
import { SimulatedProcess } from "./simulated-process.ts";

const planned: PlannedStop = { where: "drain-1 disruption/round/round.ts:5", nth: 2, ms: 1_500 };

describe("AwaitStops", () => {
	test("stops at the planned occurrence of a place only", () => {
		const stops = new AwaitStops(knownStops([planned]));
		const process = new SimulatedProcess("drain-1", { keepsHistory: false, stops });
		const found = Array.from({ length: 3 }, () => stops.findStop(process, "disruption/round/round.ts:5"));
		expect(found).toEqual([undefined, planned, undefined]);
		expect(stops.findStop(process, "disruption/round/round.ts:6")).toBeUndefined();
	});

	test("freezes the process until it goes on, and its clock has moved then", async () => {
		const stops = new AwaitStops(knownStops([planned]));
		const process = new SimulatedProcess("drain-1", { keepsHistory: false, stops });
		process.clock.after(100, () => undefined);
		const stopped = stops.stop(process, planned);
		expect(process.isStopped).toBe(true);
		expect(process.timerStep()).toBeUndefined();
		const steps: Step[] = [];
		stops.addSteps(steps);
		expect(steps.map(({ what }) => what)).toEqual(["goes on at disruption/round/round.ts:5 after 1500 ms"]);
		steps[0]?.run();
		await stopped;
		expect({ isStopped: process.isStopped, now: process.clock.now(), made: stops.made }).toEqual({
			isStopped: false,
			now: 1_500,
			made: [planned],
		});
	});

	test("does not stop a process that is spared", async () => {
		const stops = new AwaitStops(knownStops([planned]), () => true);
		const process = new SimulatedProcess("drain-1", { keepsHistory: false, stops });
		await stops.stop(process, planned);
		expect(process.isStopped).toBe(false);
	});
});
