import { describe, expect, test } from "vitest";
import { FrameWriter } from "../../../plugin/ui/frame-writer.ts";
import { fitLine, piece, type StyledLine } from "../../../plugin/ui/styled-line.ts";
import { TerminalEmulator } from "../../support/terminal-emulator.ts";

const size = { columns: 30, rows: 6 };

function show(frames: readonly (readonly StyledLine[])[], { hasColour = true } = {}) {
	const writer = new FrameWriter({ hasColour });
	const screen = new TerminalEmulator(size.columns, size.rows);
	let last = "";
	for (const frame of frames) {
		last = writer.next(frame);
		screen.write(last);
	}
	return { screen, last, writer };
}

const line = (...texts: readonly string[]): StyledLine => texts.map((text) => piece(text));

describe("the writer of frames", () => {
	test("draws rows where they stand, empty ones too, with their colours", () => {
		const { screen } = show([[line("first"), [], [piece("all ", "good"), piece("bad", "bad")]]]);
		expect(screen.lines).toEqual(["first", "", "all bad"]);
		expect(screen.cells[2]?.map((cell) => cell?.looks)).toEqual([
			...Array.from({ length: 4 }, () => "green"),
			...Array.from({ length: 3 }, () => "red bold"),
		]);
	});

	test("draws no colour where there is none", () => {
		const { screen } = show([[[piece("all", "good")]]], { hasColour: false });
		expect(screen.lines).toEqual(["all"]);
		expect(screen.styles).toBe(0);
	});

	test("sends nothing for the frame that is shown already, and all of it once it is forgotten", () => {
		const frame = [line("first"), line("second")];
		const { last, writer } = show([frame, frame]);
		expect(last).toBe("");
		writer.forget();
		const screen = new TerminalEmulator(size.columns, size.rows);
		screen.write(writer.next(frame));
		expect(screen.lines).toEqual(["first", "second"]);
	});

	test("sends of a clock that moves on the digits that moved, in one synchronized update", () => {
		const frame = (time: string) => [line("budgets ", `sort  ${time} `), line("second")];
		const { screen, last } = show([frame("12:00:01"), frame("12:00:02")]);
		expect(screen.lines).toEqual(["budgets sort  12:00:02", "second"]);
		expect(last).toBe("\u001b[?2026h\u001b[1;22H2 \u001b[?2026l");
	});

	test.each<readonly [what: string, before: StyledLine, after: StyledLine]>([
		["shorter", line("name ", "10 of 12 ", "web-1, web-2"), line("name ", "9 of 12 ", "web-1")],
		["longer", line("a ", "b"), line("a ", "b and ", "c")],
		["empty", line("gone"), []],
		["of other pieces", line("a", "a", "b"), line("a", "b", "a")],
		["fewer pieces of the same", line("a", "a", "b"), line("a", "b ")],
		["as wide as the terminal", line("x".repeat(29)), line("y".repeat(30))],
		["wide, where it was narrow", line("name ", "x"), line("漢字 ", "x")],
		["narrow, where it was wide", line("漢字 ", "x"), line("name ", "y")],
		["of another tone", [piece("same", "good")], [piece("same", "bad")]],
	])("shows a row that becomes %s as if it had been drawn at once", (_, before, after) => {
		const changed = show([
			[before, line("below")],
			[after, line("below")],
		]).screen;
		const fresh = show([[after, line("below")]]).screen;
		expect(changed.lines).toEqual(fresh.lines);
		const looks = ({ cells }: TerminalEmulator) =>
			cells.map((row) => row.map((cell) => (cell?.character === " " ? "" : cell?.looks)));
		expect(looks(changed)).toEqual(looks(fresh));
	});

	test("erases the rows that the next frame does not have", () => {
		const { screen } = show([[line("a"), line("b"), line("c")], [line("a")]]);
		expect(screen.lines.join("\n").trimEnd()).toBe("a");
	});

	test("is given no line that steers the terminal", () => {
		expect(fitLine(line("a\u001b[2Jb\u202ec"), 40)).toEqual(line("a\\u001b[2Jb\\u202ec"));
		expect(fitLine(line("a\u001b[2Jb"), 6)).toEqual(line("a\\u0.."));
	});
});
