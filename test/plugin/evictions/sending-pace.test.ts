import { describe, expect, test } from "vitest";
import { SendingPace } from "../../../plugin/evictions/sending-pace.ts";

function paceAfter(...answers: readonly (readonly [times: number, tookMs: number])[]): SendingPace {
	const pace = new SendingPace();
	for (const [times, tookMs] of answers) for (let time = 0; time < times; time += 1) pace.answered(tookMs);
	return pace;
}

describe("SendingPace", () => {
	test("begins with 50", () => {
		expect(paceAfter()).toMatchObject({ atOnce: 50, ahead: 25 });
	});

	test.each<{ what: string; answers: [number, number][]; atOnce: number; ahead: number }>([
		{ what: "quick answers", answers: [[20, 499]], atOnce: 70, ahead: 25 },
		{ what: "very many of them", answers: [[200, 10]], atOnce: 100, ahead: 25 },
		{
			what: "answers that are neither",
			answers: [
				[1, 10],
				[100, 800],
			],
			atOnce: 51,
			ahead: 25,
		},
		{
			what: "slow answers after a quick one",
			answers: [
				[1, 10],
				[20, 1_001],
			],
			atOnce: 31,
			ahead: 15,
		},
		{
			what: "very many of them",
			answers: [
				[1, 10],
				[200, 9_000],
			],
			atOnce: 25,
			ahead: 12,
		},
		{ what: "answers that are slow for one as for many", answers: [[60, 3_000]], atOnce: 100, ahead: 25 },
		{
			what: "answers much slower than the slow ones before",
			answers: [
				[1, 3_000],
				[26, 9_001],
			],
			atOnce: 25,
			ahead: 12,
		},
		{
			what: "quick answers after slow ones",
			answers: [
				[1, 10],
				[200, 9_000],
				[10, 100],
			],
			atOnce: 35,
			ahead: 17,
		},
	])("sends $atOnce at once after $what", ({ answers, atOnce, ahead }) => {
		expect(paceAfter(...answers)).toMatchObject({ atOnce, ahead });
	});
});
