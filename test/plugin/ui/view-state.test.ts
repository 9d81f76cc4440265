import { describe, expect, test } from "vitest";
import type { KeyPress } from "../../../plugin/ui/steering-keys.ts";
import { firstView, pressKey, type ViewState } from "../../../plugin/ui/view-state.ts";

const rows = ["a", "b", "c"];

function key(name: string): KeyPress {
	const names = ["up", "down", "pageUp", "pageDown", "enter", "escape", "tab"] as const;
	const found = names.find((each) => each === name);
	if (found) return { input: "", name: found, ctrl: false };
	const isControl = name.startsWith("ctrl-");
	return { input: isControl ? name.slice(5) : name, name: "", ctrl: isControl };
}

function press(names: readonly string[], { from = firstView, among = rows } = {}): ViewState {
	return names.reduce((view, name) => pressKey(view, key(name), among, 10).view, from);
}

describe("pressKey()", () => {
	test("selects rows up and down, and stays at the ends", () => {
		expect(press(["down"]).selected).toBe("a");
		expect(press(["down", "j", "k", "down", "down", "down"]).selected).toBe("c");
		expect(press(["up"]).selected).toBe("c");
		expect(press(["pageDown", "pageUp"]).selected).toBe("a");
		expect(press(["down"], { among: [] }).selected).toBeUndefined();
	});

	test("keeps the row that is selected when others come and go, and goes on beside it when it is gone itself", () => {
		const view = press(["down", "down"]);
		expect(view.selected).toBe("b");
		expect(press(["down"], { from: view, among: ["x", "a", "b", "c"] }).selected).toBe("c");
		expect(press(["up"], { from: view, among: ["a", "c"] }).selected).toBe("a");
	});

	test("opens a page and closes it by the same key or escape; there arrows scroll", () => {
		expect(press(["e"])).toMatchObject({ pane: "explain", selected: "a" });
		expect(press(["e", "e"]).pane).toBeUndefined();
		expect(press(["enter", "escape"]).pane).toBeUndefined();
		expect(press(["b", "down", "down", "up"])).toMatchObject({ pane: "budgets", scroll: 1, selected: undefined });
		expect(press(["?", "down", "b"])).toMatchObject({ pane: "budgets", scroll: 0 });
		expect(press(["w"])).toMatchObject({ pane: "warnings" });
		expect(press(["w", "w"]).pane).toBeUndefined();
	});

	test("selects a pod that uses the budget up, explains it, shows it, and goes back", () => {
		const press3 = (names: readonly string[]) =>
			names.reduce((view, name) => pressKey(view, key(name), rows, 10, 3).view, firstView);
		expect(press3(["e", "tab"])).toMatchObject({ pane: "explain", culprit: 0 });
		expect(press3(["e", "tab", "tab", "tab", "tab"])).toMatchObject({ culprit: 0 });
		expect(press3(["e", "tab", "tab", "e"])).toMatchObject({ pane: "culprit", culprit: 1 });
		expect(press3(["e", "tab", "e", "e"])).toMatchObject({ pane: "explain", culprit: 0 });
		expect(press3(["e", "tab", "e", "escape", "escape"])).toMatchObject({ pane: undefined, culprit: undefined });
		expect(press3(["e", "tab", "y"])).toMatchObject({ pane: "object", culprit: 0, selected: "a" });
		expect(press3(["e", "tab", "y", "escape"])).toMatchObject({ pane: "explain", culprit: 0 });
		expect(press3(["tab"])).toEqual(firstView);
		expect(press(["e", "tab"]).culprit).toBeUndefined();
	});

	test("asks for the object of the selected row, once", () => {
		const first = pressKey(firstView, key("y"), rows, 10);
		expect(first).toMatchObject({ view: { pane: "object", selected: "a" }, action: "object" });
		expect(pressKey(first.view, key("y"), rows, 10)).toMatchObject({ view: { pane: undefined } });
		expect(pressKey(first.view, key("y"), rows, 10).action).toBeUndefined();
	});

	test.each([
		["p", "pause"],
		["q", "leave"],
		["ctrl-c", "interrupt"],
		["ctrl-z", "suspend"],
		["ctrl-l", "redraw"],
	])("asks at %s for %s", (name, action) => {
		expect(pressKey(firstView, key(name), rows, 10)).toEqual({ view: firstView, action });
	});

	test("takes no notice of other keys", () => {
		for (const name of ["x", "ctrl-p", "ctrl-q", ""])
			expect(pressKey(firstView, key(name), rows, 10)).toEqual({ view: firstView });
	});
});
