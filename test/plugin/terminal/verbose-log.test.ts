import { describe, expect, test } from "vitest";
import { createVerboseLog } from "../../../plugin/terminal/verbose-log.ts";
import { collectStreams } from "../../support/collected-streams.ts";

function logAt(level: number) {
	const { stderr, err } = collectStreams();
	const log = createVerboseLog(level, stderr);
	if (!log) throw new Error(`no log at ${level}`);
	return { log, err };
}

describe("createVerboseLog()", () => {
	test("there is none below level 6", () => {
		const { stderr } = collectStreams();
		expect([-1, 0, 5].map((level) => createVerboseLog(level, stderr))).toEqual([undefined, undefined, undefined]);
	});

	test("writes lines as klog does: head, message, quoted values, and lines of their own", () => {
		const { log, err } = logAt(6);
		log.tell("Response", [
			["verb", "GET"],
			["url", 'a"b'],
			["headers", "A: 1\nB: 2\n"],
			["milliseconds", 3],
		]);
		const [first, ...rest] = err().split("\n");
		expect(first).toMatch(
			/^I\d{4} \d\d:\d\d:\d\d\.\d{6} [ \d]{7,} verbose-log\.test\.ts:\d+\] "Response" verb="GET" url="a\\"b" headers=<$/,
		);
		expect(rest).toEqual(["\tA: 1", "\tB: 2", " > milliseconds=3", ""]);
	});

	const body = JSON.stringify({ text: "x".repeat(20_000) });
	for (const { level, length, more } of [
		{ level: 8, length: 1_024, more: true },
		{ level: 9, length: 10_240, more: true },
		{ level: 10, length: body.length, more: false },
	]) {
		test(`${level}: the first ${length} characters of a body`, () => {
			const [, shown] = logAt(level).log.body(body) ?? [];
			const end = more ? ` [truncated ${body.length - length} chars]` : "";
			expect(shown).toBe(body.slice(0, length) + end);
		});
	}

	test("7: no bodies", () => {
		expect(logAt(7).log.body("{}")).toBeUndefined();
	});

	test("half of an answer is not shown: it may have half of a secret", () => {
		const [, shown] = logAt(10).log.body('{"status":{"token":"abcd') ?? [];
		expect(shown).toBe("<masked: 24 characters that are not complete JSON>");
	});

	test("a secret that is known is hidden in every line", () => {
		const { log, err } = logAt(10);
		log.body({ grants: [{ id: "77d27317-a475-4119" }] });
		log.tell("Response", [["err", "no such reservation: 77d27317-a475-4119"]]);
		expect(err()).toContain('err="no such reservation: <masked>"');
	});
});
