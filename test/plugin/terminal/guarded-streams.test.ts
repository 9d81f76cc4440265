import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { fitLine, maxLineBytes } from "../../../plugin/output/fit-line.ts";
import { createPlainWriter } from "../../../plugin/output/plain.ts";
import { writeDocument } from "../../../plugin/output/read-format.ts";
import { tableLines } from "../../../plugin/output/table.ts";
import { reportError } from "../../../plugin/run/report-error.ts";
import { guardStreams, longestLine } from "../../../plugin/terminal/guarded-streams.ts";
import { listFiles } from "../../architecture/source-files.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

const evil = "\u001b[2Jgone\u009b31m\u202egpj\u200b";
const harmless = "\\u001b[2Jgone\\u009b31m\\u202egpj\\u200b";

describe("guardStreams()", () => {
	test("errors, events and tables do not steer the terminal", () => {
		const collected = collectStreams();
		const streams = guardStreams(collected);
		reportError(new ApiError(evil, { code: 500 }), { argv: [], stderr: streams.stderr });
		const write = createPlainWriter({
			suggest: suggestDefault,
			streams,
			contexts: ["c1"],
			now: () => 0,
			wallClock: () => 0,
		});
		write({ type: "diagnostic", level: "warning", message: evil });
		streams.stdout.write(`${tableLines(undefined, [[evil, "b"]])[0]}\n`);
		expect(collected.lines()).toEqual([
			`err: Error from server: ${harmless}`,
			`err: Warning: ${harmless}`,
			`out: ${harmless}   b`,
		]);
	});

	test("a line has an end, and the lines beside it are whole", () => {
		const collected = collectStreams();
		guardStreams(collected).stderr.write(`a\n${"x".repeat(longestLine + 7)}\nb\n`);
		expect(collected.lines()).toEqual(["err: a", `err: ${"x".repeat(longestLine)}… (7 more characters)`, "err: b"]);
	});

	test("the width of the terminal is that of now", () => {
		const collected = collectStreams();
		const stdout = { ...collected.stdout, columns: 80 };
		const streams = guardStreams({ ...collected, stdout });
		stdout.columns = 40;
		expect(streams.stdout.columns).toBe(40);
	});

	const document = { by: `a\u009b${"\u202e".repeat(200_000)}`, list: [1, null] };

	test("documents stay JSON, with texts that have an end", () => {
		const collected = collectStreams();
		writeDocument(guardStreams(collected).stdout, "json", document);
		expect(JSON.parse(collected.out())).toEqual({ by: `a\u009b${"\u202e".repeat(7_998)}…`, list: [1, null] });
	});

	test("documents with very many texts stay JSON on one line, too", () => {
		const collected = collectStreams();
		const many = { items: Array.from({ length: 20_000 }, (_, index) => `lease-${index}`) };
		writeDocument(guardStreams(collected).stdout, "json", many, { isLine: true });
		expect(collected.out().length).toBeGreaterThan(longestLine);
		expect(JSON.parse(collected.out())).toEqual(many);
	});

	test("documents in YAML have lines with an end", () => {
		const collected = collectStreams();
		writeDocument(guardStreams(collected).stdout, "yaml", document);
		expect(collected.out()).toMatch(/^by: .*…"?\nlist:\n {2}- 1\n {2}- null\n$/);
		expect(Math.max(...collected.lines().map((line) => line.length))).toBeLessThan(longestLine);
	});

	test("lines of events are whole: escapes are part of what is measured", () => {
		const collected = collectStreams();
		const line = fitLine({ type: "diagnostic", message: "\u202e".repeat(60_000) });
		guardStreams(collected).stdout.write(`${line}\n`);
		expect(Buffer.byteLength(collected.out())).toBeLessThanOrEqual(maxLineBytes);
		expect(JSON.parse(collected.out())).toMatchObject({ truncated: true });
	});

	test("the plugin writes to the terminal in main.ts alone", () => {
		const others = listFiles().filter((path) => path.startsWith("plugin/") && path !== "plugin/main.ts");
		expect(others.length).toBeGreaterThan(50);
		expect(others.filter((path) => /process\.std(out|err)|console\./.test(readFileSync(path, "utf8")))).toEqual([]);
	});
});

describe("messages", () => {
	test("have reasons and causes with an end", () => {
		const causes = Array.from({ length: 1_000 }, () => ({ reason: "", message: "y".repeat(10_000), field: "" }));
		const error = new ApiError("", { code: 422, reason: "x".repeat(10_000), causes });
		expect(error.reason).toBe(`${"x".repeat(80)}…`);
		expect(error.causes).toHaveLength(100);
		expect(error.causes[0]?.message).toBe(`${"y".repeat(3_000)}…`);
	});

	test("have an end, whatever they quote", () => {
		expect(new ApiError("x".repeat(10_000), { code: 500 }).message).toBe(`${"x".repeat(3_000)}…`);
	});
});

describe("plain lines", () => {
	test("no name of somebody else begins a line that looks like ours", () => {
		const collected = collectStreams();
		const write = createPlainWriter({
			suggest: suggestDefault,
			streams: collected,
			contexts: ["c1"],
			now: () => 0,
			wallClock: () => 0,
		});
		write({
			type: "lease.waiting",
			budget: "shop/db",
			cluster: "c2",
			holder: "alice\npod/db-0 evicted",
			heldForMs: 60_000,
			position: 1,
		});
		expect(collected.lines()).toEqual([
			"err: budget shop/db: lease held by alice\\u000apod/db-0 evicted in c2 for 1m00s, this run is number 1 in line",
		]);
	});
});
