import { describe, expect, test } from "vitest";
import { FrameSplitter } from "../../../agent/kubernetes/frame-splitter.ts";
import { framed } from "../../support/encode-protobuf.ts";

function split(chunks: readonly Buffer[]) {
	const frames: string[] = [];
	const splitter = new FrameSplitter((frame) => void frames.push(frame.toString("utf8")));
	for (const chunk of chunks) splitter.push(chunk);
	return { frames, unfinished: splitter.unfinished };
}

const bytes = Buffer.concat(["one", "", "three", "x".repeat(70_000)].map((text) => framed(Buffer.from(text))));

describe("FrameSplitter", () => {
	test("gives whole frames wherever the chunks end", () => {
		const whole = split([bytes]);
		expect(whole.frames.map((frame) => frame.length)).toEqual([3, 0, 5, 70_000]);
		expect(split([...bytes.subarray(0, 40)].map((byte) => Buffer.from([byte])).concat(bytes.subarray(40)))).toEqual(
			whole,
		);
	});

	test("says that a frame was cut off", () => {
		expect(split([bytes.subarray(0, 9)])).toEqual({ frames: ["one"], unfinished: true });
		expect(split([bytes.subarray(0, 7)])).toEqual({ frames: ["one"], unfinished: false });
		expect(split([bytes.subarray(0, 2)])).toEqual({ frames: [], unfinished: true });
	});

	test("throws RangeError for a frame of more than 16 MiB, before its bytes arrive", () => {
		const head = Buffer.alloc(4);
		head.writeUInt32BE(16 * 1024 * 1024 + 1);
		expect(() => split([head])).toThrow(RangeError);
	});
});
