import { expect, test } from "vitest";
import { selectedObject } from "../../../plugin/ui/selected-object.ts";
import { sampleFacts } from "./sample-run.ts";

const facts = sampleFacts();
const object = (selected: string | undefined, culprit?: number) => selectedObject(facts, { selected, culprit });

test("is the object of the selected row", () => {
	expect(object("node prod-us node-us-02")).toEqual({ kind: "node", context: "prod-us", name: "node-us-02" });
	expect(object("budget payments/api")).toEqual({
		kind: "budget",
		context: undefined,
		namespace: "payments",
		name: "api",
	});
	expect(object("pod prod-us payments/api-7c9d4-kk2lm prod-us-api-7c9d4-kk2lm")).toEqual({
		kind: "pod",
		context: "prod-us",
		namespace: "payments",
		name: "api-7c9d4-kk2lm",
	});
	expect(object("context prod-us")).toBeUndefined();
	expect(object(undefined)).toBeUndefined();
});

test("is the pod that is selected among those that use the budget up", () => {
	expect(object("budget payments/api", 1)).toMatchObject({ kind: "pod", context: "prod-ap", name: "api-7c9d4-9mm4t" });
	expect(object("budget payments/api", 9)).toMatchObject({ kind: "budget" });
});
