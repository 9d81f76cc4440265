import { expect, test } from "vitest";
import { ApiError } from "../../plugin/api-error.ts";
import { createPlainWriter } from "../../plugin/output/plain.ts";
import { tableLines } from "../../plugin/output/table.ts";
import { printable } from "../../plugin/printable.ts";
import { reportError } from "../../plugin/report-error.ts";
import { collectStreams } from "./collected-streams.ts";

const evil = "\u001b[2Jgone\u009b31m";
const harmless = "\\x1b[2Jgone\\x9b31m";

test("printable() keeps lines, tabs and letters of all kinds", () => {
	expect(printable("a\tb\nü 😀")).toBe("a\tb\nü 😀");
});

test("printable() shows control characters and half characters instead of sending them", () => {
	expect(printable(`${evil}\r\ud800`)).toBe(`${harmless}\\x0d\ufffd`);
});

test("errors, events and tables do not steer the terminal", () => {
	const streams = collectStreams();
	reportError(new ApiError(evil, { code: 500 }), { argv: [], stderr: streams.stderr });
	const write = createPlainWriter({ streams, contexts: ["c1"], now: () => 0, wallClock: () => 0 });
	write({ type: "diagnostic", level: "warning", message: evil });
	expect(streams.lines()).toEqual([`err: Error from server: ${harmless}`, `err: Warning: ${harmless}`]);
	expect(tableLines(undefined, [[evil, "b"]])).toEqual([`${harmless}   b`]);
});
