import { describe, expect, test } from "vitest";
import { orderPods, parsePodOrder } from "../../../plugin/drain/pod-order.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const labelled = (...values: readonly (string | undefined)[]) =>
	values.map((value) => newV1Pod(value ?? "absent", { labels: value === undefined ? {} : { step: value } }));
const names = (groups: ReturnType<typeof orderPods>): readonly string[] =>
	groups.map((group) => group.map(({ metadata }) => metadata?.name).join(" "));

describe("orderPods()", () => {
	const rows: readonly {
		readonly name: string;
		readonly values: readonly (string | undefined)[];
		readonly expected: readonly string[];
	}[] = [
		{ name: "sorts numbers as numbers", values: ["10", "9", "1.5"], expected: ["1.5", "9", "10"] },
		{ name: "sorts as text where one value is no number", values: ["10", "9", "a"], expected: ["10", "9", "a"] },
		{ name: "puts pods without the label last", values: [undefined, "2", "1"], expected: ["1", "2", "absent"] },
		{ name: "keeps the order within a group", values: ["b", "a", "b"], expected: ["a", "b b"] },
		{ name: "takes equal numbers for one group", values: ["1", "01", "0"], expected: ["0", "1 01"] },
		{ name: "sorts an empty value as text, before all others", values: ["1", ""], expected: ["", "1"] },
		{ name: "has one group where no pod has the label", values: [undefined, undefined], expected: ["absent absent"] },
		{ name: "has no group without pods", values: [], expected: [] },
	];
	for (const { name, values, expected } of rows) {
		test(name, () => expect(names(orderPods(labelled(...values), { kind: "label", key: "step" }))).toEqual(expected));
	}

	test("sorts by priority, lowest first, none being 0", () => {
		const pods = [newV1Pod("high", { priority: 1000 }), newV1Pod("none"), newV1Pod("low", { priority: -5 })];
		expect(names(orderPods(pods, { kind: "priority" }))).toEqual(["low", "none", "high"]);
	});

	test("has one group without an order, and none without pods", () => {
		expect(names(orderPods([newV1Pod("b"), newV1Pod("a")], { kind: "none" }))).toEqual(["b a"]);
		expect(orderPods([], { kind: "none" })).toEqual([]);
	});
});

describe("parsePodOrder()", () => {
	const rows = [
		{ text: "", expected: { kind: "none" } },
		{ text: "priority", expected: { kind: "priority" } },
		{ text: "step", expected: { kind: "label", key: "step" } },
		{ text: "example.com/step", expected: { kind: "label", key: "example.com/step" } },
	];
	for (const { text, expected } of rows) {
		test(`reads "${text}"`, () => expect(parsePodOrder(text)).toEqual(expected));
	}
	for (const text of ["a b", "/step", "step/", "-x", "a=b"]) {
		test(`refuses "${text}"`, () => expect(() => parsePodOrder(text)).toThrow(UsageError));
	}
});
