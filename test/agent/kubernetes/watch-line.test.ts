import { describe, expect, test } from "vitest";
import { parseWatchLine } from "../../../agent/kubernetes/watch-line.ts";

describe("parseWatchLine() refuses", () => {
	const rows: readonly { readonly name: string; readonly line: string; readonly says: string }[] = [
		{ name: "half a line", line: '{"type":"ADD', says: "an event is not JSON" },
		{ name: "no object", line: '{"type":"ADDED"}', says: "an event has no object" },
		{
			name: "no type and no version",
			line: '{"object":{"metadata":{}}}',
			says: "an event of type missing has no resourceVersion",
		},
		{
			name: "an unknown type",
			line: '{"type":"MOVED","object":{"metadata":{"resourceVersion":"7"}}}',
			says: 'an event has the unknown type "MOVED"',
		},
	];
	for (const { name, line, says } of rows) {
		test(name, () => {
			expect(() => parseWatchLine(line)).toThrow(new TypeError(says));
		});
	}
});

test("parseWatchLine() has words for an error that says nothing", () => {
	expect(parseWatchLine('{"type":"ERROR","object":{"message":" ","code":"x"}}')).toEqual({
		type: "ERROR",
		code: 0,
		message: "an error without a message",
	});
});
