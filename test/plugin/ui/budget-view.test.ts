import { describe, expect, test } from "vitest";
import { type BudgetView, firstBudgetView, pressBudgetKey } from "../../../plugin/ui/budget-view.ts";
import type { KeyPress } from "../../../plugin/ui/steering-keys.ts";

const around = { rows: ["a/1", "a/2", "b/1"], namespaces: ["a", "b"], page: 2 };
const named = ["up", "down", "pageUp", "pageDown", "enter", "escape", "backspace"] as const;

function press(view: BudgetView, ...keys: readonly string[]) {
	let pressed: ReturnType<typeof pressBudgetKey> = { view };
	for (const key of keys) {
		const name: KeyPress["name"] = named.find((each) => each === key) ?? "";
		const ctrl = key.startsWith("ctrl-");
		const input = name === "" ? key.replace("ctrl-", "") : "";
		pressed = pressBudgetKey(pressed.view, { name, input, ctrl }, around);
	}
	return pressed;
}

describe("pressBudgetKey()", () => {
	test("selects rows, and keeps to them", () => {
		expect(press(firstBudgetView, "down").view.selected).toBe("a/1");
		expect(press(firstBudgetView, "down", "j", "down", "down").view.selected).toBe("b/1");
		expect(press(firstBudgetView, "up").view.selected).toBe("b/1");
		expect(press(firstBudgetView, "pageDown").view.selected).toBe("a/2");
		expect(press(firstBudgetView, "down", "pageUp").view.selected).toBe("a/1");
	});

	test("goes on at the neighbour of a row that has gone", () => {
		const view = { ...firstBudgetView, selected: "gone", index: 1 };
		expect(press(view, "down").view.selected).toBe("b/1");
		expect(press(view, "up").view.selected).toBe("a/1");
	});

	test("sorts by the next column, and the other way round", () => {
		expect(press(firstBudgetView, "s").view.sort).toBe("BUDGET");
		expect(press(firstBudgetView, "s", "s", "s", "s").view.sort).toBe("ALLOWED");
		expect(press(firstBudgetView, "r").view.isReversed).toBe(true);
	});

	test("takes a filter until enter, in which keys are letters", () => {
		const typing = press(firstBudgetView, "/", "q", "s", "!", "\u001b[A", "X").view;
		expect(typing).toMatchObject({ isTyping: true, filter: "qs!", sort: "ALLOWED" });
		expect(press(typing, "backspace", "enter").view).toMatchObject({ isTyping: false, filter: "qs" });
		expect(press(typing, "escape").view).toMatchObject({ isTyping: false, filter: "" });
		expect(press(typing, "ctrl-c").action).toBe("interrupt");
	});

	test("goes through the namespaces, and back to all", () => {
		expect(press(firstBudgetView, "n").view.namespace).toBe("a");
		expect(press(firstBudgetView, "n", "n").view.namespace).toBe("b");
		expect(press(firstBudgetView, "n", "n", "n").view.namespace).toBeUndefined();
		expect(press({ ...firstBudgetView, namespace: "gone" }, "n").view.namespace).toBe("a");
	});

	test("opens the selected row, or the first one, and closes it", () => {
		const opened = press(firstBudgetView, "enter").view;
		expect(opened).toMatchObject({ pane: "details", selected: "a/1" });
		expect(press(opened, "down").view).toMatchObject({ pane: "details", selected: "a/2" });
		expect(press(opened, "pageDown").view).toMatchObject({ selected: "a/1", scroll: 4 });
		expect(press(opened, "pageDown", "down").view).toMatchObject({ selected: "a/2", scroll: 0 });
		expect(press(opened, "enter").view.pane).toBeUndefined();
		expect(press(opened, "escape").view.pane).toBeUndefined();
		expect(press(opened, "?", "down").view).toMatchObject({ pane: "help", scroll: 1 });
	});

	test("asks why at e: about the selected row, or the first one, which is read on by lines", () => {
		const asked = press(firstBudgetView, "e");
		expect(asked).toMatchObject({ view: { pane: "explain", selected: "a/1" }, action: "explain" });
		expect(press(asked.view, "down").view).toMatchObject({ pane: "explain", selected: "a/1", scroll: 1 });
		expect(press(asked.view, "e")).toMatchObject({ view: { pane: undefined } });
		expect(press(asked.view, "e").action).toBeUndefined();
		expect(press(asked.view, "escape").view.pane).toBeUndefined();
		const details = press(firstBudgetView, "down", "down", "enter", "e");
		expect(details).toMatchObject({ view: { pane: "explain", selected: "a/2" }, action: "explain" });
		expect(pressBudgetKey(firstBudgetView, { name: "", input: "e", ctrl: false }, { ...around, rows: [] })).toEqual({
			view: firstBudgetView,
		});
	});

	test("shows everything again at escape", () => {
		const view = { ...firstBudgetView, filter: "x", namespace: "a" };
		expect(press(view, "escape").view).toMatchObject({ filter: "", namespace: undefined });
	});

	test.each([
		["q", "leave"],
		["ctrl-c", "interrupt"],
		["ctrl-z", "suspend"],
		["ctrl-l", "redraw"],
		["x", undefined],
	])("%s means %s", (key, action) => {
		expect(press(firstBudgetView, key).action).toBe(action);
	});
});
