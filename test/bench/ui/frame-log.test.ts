import { describe, expect, test } from "vitest";
import { FrameLog } from "./frame-log.ts";

const begin = "\u001b[?2026h";
const end = "\u001b[?2026l";

describe("FrameLog", () => {
	test("a frame that comes in pieces is one frame, at the time of its last piece, with all its bytes", () => {
		const log = new FrameLog();
		log.see(`${begin}first, `, 10);
		log.see(`then ${end.slice(0, 4)}`, 20);
		log.see(end.slice(4), 30);
		expect(log.frames).toEqual([{ at: 30, bytes: 8 + "first, then ".length + 8 }]);
	});

	test("two frames in one piece are two", () => {
		const log = new FrameLog();
		log.see(`${begin}é${end}${begin}bb${end}${begin}`, 10);
		expect(log.frames.map(({ bytes }) => bytes)).toEqual([18, 18]);
	});

	test("only whole seconds are counted, also those without a frame", () => {
		const log = new FrameLog();
		for (const at of [999, 1_000, 1_999, 3_500, 4_100]) log.see(`x${end}`, at);
		expect(log.perSecond(1_000, 4_200)).toEqual([2, 0, 1]);
		expect(log.between(1_000, 2_000)).toHaveLength(2);
	});
});
