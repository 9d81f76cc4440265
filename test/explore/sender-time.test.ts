import { describe, expect, test } from "vitest";
import { type Moment, SenderTime } from "./sender-time.ts";
import { SimulatedProcess } from "./simulated-process.ts";

function followed() {
	let step = 0;
	const senders = new SenderTime((): Moment => ({ step, config: step, known: [step], views: [step * 10] }));
	const process = new SimulatedProcess("drain-1", { keepsHistory: false });
	senders.follow(process);
	const jumpAt = (at: number, ms: number): void => {
		step = at;
		process.clock.jump(ms);
	};
	return { senders, process, jumpAt };
}

describe("SenderTime.asOf()", () => {
	test("is the last moment before the clock passed the time", () => {
		const { senders, process, jumpAt } = followed();
		jumpAt(5, 1_500);
		jumpAt(9, 1_500);
		expect(senders.asOf(process, 500)?.step).toBe(5);
		expect(senders.asOf(process, 1_500)?.step).toBe(9);
		expect(senders.asOf(process, 2_900)?.step).toBe(9);
	});

	test("is undefined where the clock always showed more", () => {
		const { senders, process, jumpAt } = followed();
		jumpAt(5, 800);
		expect(senders.asOf(process, -200)).toBeUndefined();
	});

	test("forgets the pods that views had seen before a backup came back", () => {
		const { senders, process, jumpAt } = followed();
		jumpAt(5, 1_500);
		senders.limitViews(0, 20);
		expect(senders.asOf(process, 0)?.views).toEqual([20]);
	});
});
