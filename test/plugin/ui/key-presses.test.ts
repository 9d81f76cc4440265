import { describe, expect, test } from "vitest";
import { keyPresses } from "../../../plugin/ui/key-presses.ts";

const none = {
	upArrow: false,
	downArrow: false,
	pageUp: false,
	pageDown: false,
	return: false,
	escape: false,
	tab: false,
	backspace: false,
	delete: false,
	ctrl: false,
};
const typed = (input: string) => ({ input, ctrl: false, name: "" });

describe("keyPresses()", () => {
	test("is the one key that Ink names", () => {
		expect(keyPresses("", { ...none, upArrow: true })).toEqual([{ input: "", ctrl: false, name: "up" }]);
		expect(keyPresses("c", { ...none, ctrl: true })).toEqual([{ input: "c", ctrl: true, name: "" }]);
		expect(keyPresses("", { ...none, delete: true })).toEqual([{ input: "", ctrl: false, name: "backspace" }]);
		expect(keyPresses("p", none)).toEqual([typed("p")]);
	});

	test("takes keys apart that came at once, in their order", () => {
		expect(keyPresses("/ab\u007f\r", none)).toEqual([
			typed("/"),
			typed("a"),
			typed("b"),
			{ input: "", ctrl: false, name: "backspace" },
			{ input: "", ctrl: false, name: "enter" },
		]);
	});

	test("finds a Ctrl-C and a Ctrl-Z among others", () => {
		expect(keyPresses("pp\u0003", none).at(-1)).toEqual({ input: "c", ctrl: true, name: "" });
		expect(keyPresses("\u001ap", none)[0]).toEqual({ input: "z", ctrl: true, name: "" });
	});

	test("keeps a character of two code units whole", () => {
		expect(keyPresses("x\u{1f600}", none)).toEqual([typed("x"), typed("\u{1f600}")]);
	});
});
