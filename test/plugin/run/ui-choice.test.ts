import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { hasUnicode, readUiChoice, screenProblem, wantsColour } from "../../../plugin/run/ui-choice.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import type { ScreenTerminal } from "../../../plugin/terminal/screen-terminal.ts";
import { TerminalTurns } from "../../../plugin/terminal/terminal-turns.ts";

async function choice(flag: string | undefined, env: NodeJS.ProcessEnv = {}) {
	const parsed = await parseCommandLine(["drain", "n1", ...(flag === undefined ? [] : [`--ui=${flag}`])]);
	if (parsed.kind !== "command") throw new Error("no command");
	return readUiChoice(parsed.input, env);
}

describe("readUiChoice()", () => {
	test("takes the flag before XPDB_UI, and neither for auto", async () => {
		expect(await choice(undefined)).toBe("auto");
		expect(await choice(undefined, { XPDB_UI: "plain" })).toBe("plain");
		expect(await choice("full", { XPDB_UI: "plain" })).toBe("full");
	});

	test("refuses what it does not know, and says where it stands", async () => {
		await expect(choice("fancy")).rejects.toThrow(
			new UsageError("Invalid --ui value (fancy). Must be one of auto, full, plain, none."),
		);
		await expect(choice(undefined, { XPDB_UI: "fancy" })).rejects.toThrow("Invalid XPDB_UI value (fancy)");
	});
});

describe("screenProblem()", () => {
	const terminal = (more: object = {}): ScreenTerminal => {
		const stream = { isTTY: true, columns: 80, rows: 24, ...more };
		return {
			stdin: stream,
			stdout: stream,
			stderr: stream,
			isOutputFile: false,
			isErrorTerminal: true,
			turns: new TerminalTurns(),
		} as unknown as ScreenTerminal;
	};

	test.each<readonly [string, ScreenTerminal | undefined, NodeJS.ProcessEnv, RegExp]>([
		["nothing to draw on", undefined, {}, /no terminal/],
		["a pipe", terminal({ isTTY: false }), {}, /no terminal/],
		["stderr elsewhere", { ...terminal(), isErrorTerminal: false }, {}, /stderr/],
		["a dumb terminal", terminal(), { TERM: "dumb" }, /TERM=dumb/],
		["continuous integration", terminal(), { CI: "true" }, /CI/],
		["a screen reader", terminal(), { INK_SCREEN_READER: "true" }, /read out/],
		["59 columns", terminal({ columns: 59 }), {}, /59x24/],
		["14 rows", terminal({ rows: 14 }), {}, /80x14/],
	])("finds one in %s", (_, at, env, why) => {
		expect(screenProblem(at, env)).toMatch(why);
	});

	test("finds none on a terminal, nor in variables that say no", () => {
		expect(
			screenProblem(terminal({ columns: 60, rows: 15 }), { TERM: "xterm", CI: "false", INK_SCREEN_READER: "0" }),
		).toBeUndefined();
	});
});

test("colours are there unless NO_COLOR takes them and FORCE_COLOR does not bring them back", () => {
	expect(wantsColour({})).toBe(true);
	expect(wantsColour({ NO_COLOR: "" })).toBe(true);
	expect(wantsColour({ NO_COLOR: "1" })).toBe(false);
	expect(wantsColour({ NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(true);
	expect(wantsColour({ FORCE_COLOR: "0" })).toBe(false);
});

test("signs beyond ASCII are for locales that have them", () => {
	expect(hasUnicode({ LANG: "en_US.UTF-8" }, "linux")).toBe(true);
	expect(hasUnicode({ LANG: "en_US.UTF-8", LC_ALL: "C" }, "linux")).toBe(false);
	expect(hasUnicode({}, "linux")).toBe(false);
	expect(hasUnicode({ LANG: "C.UTF-8", XPDB_ASCII: "1" }, "linux")).toBe(false);
	expect(hasUnicode({}, "win32")).toBe(false);
	expect(hasUnicode({ WT_SESSION: "1" }, "win32")).toBe(true);
});
