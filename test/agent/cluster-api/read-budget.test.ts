import { describe, expect, test } from "vitest";
import { readBudget } from "../../../agent/cluster-api/read-budget.ts";

const spec = { maxUnavailable: 1, selector: {} };
const metadata = { namespace: "shop", name: "db", uid: "0d1f", resourceVersion: "7" };
const name = { namespace: "shop", name: "db" };

describe("readBudget()", () => {
	test("tells who suspended it, as it stands in the annotation", () => {
		const annotations = { "xpdb.form3.tech/suspended": "{}", other: "1" };
		expect(readBudget({ metadata: { ...metadata, annotations }, spec })).toEqual({ name, spec, suspension: "{}" });
	});

	for (const { name: what, annotations } of [
		{ name: "none", annotations: undefined },
		{ name: "one that is no text", annotations: { "xpdb.form3.tech/suspended": 7 } },
		{ name: "one that is longer than anybody writes", annotations: { "xpdb.form3.tech/suspended": "x".repeat(4_097) } },
		{ name: "annotations that are none", annotations: "garbled" },
	]) {
		test(`reads the budget with ${what}: that is for people, and nothing is decided by it`, () => {
			expect(readBudget({ metadata: { ...metadata, annotations }, spec })).toEqual({ name, spec });
		});
	}
});
