import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	type Bound,
	desiredHealthy,
	formatBound,
	formatBudgetName,
	needsExpectedPods,
	parseBudgetSpec,
} from "../../disruption/budget/budget.ts";
import { InvalidBudgetError } from "../../disruption/errors.ts";

const specWith = (fields: object = {}): object => ({
	selector: {},
	...("minAvailable" in fields ? {} : { maxUnavailable: 1 }),
	...fields,
});

function findError(spec: unknown): unknown {
	try {
		parseBudgetSpec(spec);
		return undefined;
	} catch (error) {
		return error;
	}
}

const minAvailable = (quantity: number | string): Bound => parseBudgetSpec(specWith({ minAvailable: quantity })).bound;
const maxUnavailable = (quantity: number | string): Bound =>
	parseBudgetSpec(specWith({ maxUnavailable: quantity })).bound;

describe("parseBudgetSpec()", () => {
	const bounds: { name: string; fields: object; expected: Bound }[] = [
		{
			name: "a number",
			fields: { minAvailable: 2 },
			expected: { kind: "minAvailable", quantity: { kind: "number", value: 2 } },
		},
		{
			name: "zero",
			fields: { maxUnavailable: 0 },
			expected: { kind: "maxUnavailable", quantity: { kind: "number", value: 0 } },
		},
		{
			name: "the largest number that Kubernetes has",
			fields: { minAvailable: 2_147_483_647 },
			expected: { kind: "minAvailable", quantity: { kind: "number", value: 2_147_483_647 } },
		},
		{
			name: "a percentage",
			fields: { minAvailable: "50%" },
			expected: { kind: "minAvailable", quantity: { kind: "percent", value: 50 } },
		},
		{
			name: "0%",
			fields: { maxUnavailable: "0%" },
			expected: { kind: "maxUnavailable", quantity: { kind: "percent", value: 0 } },
		},
		{
			name: "100%",
			fields: { minAvailable: "100%" },
			expected: { kind: "minAvailable", quantity: { kind: "percent", value: 100 } },
		},
		{
			name: "the other bound being null",
			fields: { minAvailable: null, maxUnavailable: 1 },
			expected: { kind: "maxUnavailable", quantity: { kind: "number", value: 1 } },
		},
	];
	for (const { name, fields, expected } of bounds) {
		test(`reads ${name} as a bound`, () => {
			expect(parseBudgetSpec({ selector: {}, ...fields }).bound).toEqual(expected);
		});
	}

	test("takes an empty selector for every pod of the namespace", () => {
		expect(parseBudgetSpec(specWith({ selector: {} })).selector).toEqual({ requirements: [] });
	});

	const suspensions = [
		{ name: "without the field", fields: {}, expected: false },
		{ name: "with null", fields: { suspend: null }, expected: false },
		{ name: "with false", fields: { suspend: false }, expected: false },
		{ name: "with true", fields: { suspend: true }, expected: true },
	];
	for (const { name, fields, expected } of suspensions) {
		test(`says ${expected ? "suspended" : "not suspended"} ${name}`, () => {
			expect(parseBudgetSpec(specWith(fields)).suspended).toBe(expected);
		});
	}

	const probes = [
		{ name: "no probe", fields: {}, expected: [] },
		{ name: "null", fields: { probe: null }, expected: [] },
		{ name: "a probe that is switched off", fields: { probe: { endpoint: "web:8080", enabled: false } }, expected: [] },
		{
			name: "a probe that is switched on",
			fields: { probe: { endpoint: "web:8080", enabled: true } },
			expected: ["Probe"],
		},
		{ name: "a probe that does not say", fields: { probe: { endpoint: "web:8080" } }, expected: ["Probe"] },
		{ name: "an empty probe", fields: { probe: {} }, expected: ["Probe"] },
		{ name: "a probe switched off in a word", fields: { probe: { enabled: "false" } }, expected: ["Probe"] },
		{ name: "a probe that is no object", fields: { probe: "web:8080" }, expected: ["Probe"] },
	];
	for (const { name, fields, expected } of probes) {
		test(`asks members for ${expected.length > 0 ? "the feature Probe" : "no feature"} with ${name}`, () => {
			expect(parseBudgetSpec(specWith(fields)).features).toEqual(expected);
		});
	}

	const invalid: { name: string; spec: unknown; field: string; says?: RegExp }[] = [
		{ name: "no spec", spec: undefined, field: "spec" },
		{ name: "null", spec: null, field: "spec" },
		{ name: "a list", spec: [], field: "spec" },
		{
			name: "neither bound",
			spec: { selector: {} },
			field: "spec",
			says: /neither .*minAvailable.* nor .*maxUnavailable/,
		},
		{
			name: "both bounds null",
			spec: { selector: {}, minAvailable: null, maxUnavailable: null },
			field: "spec",
			says: /neither/,
		},
		{ name: "both bounds", spec: { selector: {}, minAvailable: 1, maxUnavailable: 1 }, field: "spec", says: /both/ },
		{
			name: "both bounds, one of them 0",
			spec: { selector: {}, minAvailable: 0, maxUnavailable: 1 },
			field: "spec",
			says: /both/,
		},
		{ name: "an absent selector", spec: { maxUnavailable: 1 }, field: "spec.selector", says: /missing/ },
		{ name: "a selector that is null", spec: specWith({ selector: null }), field: "spec.selector", says: /missing/ },
		{ name: "a selector that is text", spec: specWith({ selector: "app=web" }), field: "spec.selector" },
		{
			name: "an invalid label",
			spec: specWith({ selector: { matchLabels: { "a b": "" } } }),
			field: "spec.selector.matchLabels[a b]",
		},
		{
			name: "an unknown field",
			spec: specWith({ unhealthyPodEvictionPolicy: "AlwaysAllow" }),
			field: "spec.unhealthyPodEvictionPolicy",
		},
		{ name: "a misspelt field", spec: specWith({ maxUnavailabel: 1 }), field: "spec.maxUnavailabel" },
		{ name: "suspend as a word", spec: specWith({ suspend: "true" }), field: "spec.suspend" },
		{ name: "a negative number", spec: specWith({ maxUnavailable: -1 }), field: "spec.maxUnavailable", says: /-1/ },
		{ name: "a fraction", spec: specWith({ minAvailable: 1.5 }), field: "spec.minAvailable", says: /1\.5/ },
		{ name: "a number beyond 32 bits", spec: specWith({ minAvailable: 2_147_483_648 }), field: "spec.minAvailable" },
		{ name: "a number that is not one", spec: specWith({ minAvailable: Number.NaN }), field: "spec.minAvailable" },
		{ name: "a number in quotes", spec: specWith({ minAvailable: "1" }), field: "spec.minAvailable", says: /"1"/ },
		{ name: "101%", spec: specWith({ maxUnavailable: "101%" }), field: "spec.maxUnavailable", says: /101%/ },
		{ name: "a negative percentage", spec: specWith({ maxUnavailable: "-1%" }), field: "spec.maxUnavailable" },
		{ name: "a fraction of a percent", spec: specWith({ maxUnavailable: "0.5%" }), field: "spec.maxUnavailable" },
		{ name: "a percentage with a space", spec: specWith({ maxUnavailable: "50 %" }), field: "spec.maxUnavailable" },
		{
			name: "a percentage and a line break",
			spec: specWith({ maxUnavailable: "50%\n" }),
			field: "spec.maxUnavailable",
		},
		{ name: "a percent sign alone", spec: specWith({ maxUnavailable: "%" }), field: "spec.maxUnavailable" },
		{ name: "an empty text", spec: specWith({ maxUnavailable: "" }), field: "spec.maxUnavailable" },
		{ name: "true as a number", spec: specWith({ maxUnavailable: true }), field: "spec.maxUnavailable" },
		{ name: "a list as a number", spec: specWith({ maxUnavailable: [1] }), field: "spec.maxUnavailable" },
	];
	for (const { name, spec, field, says } of invalid) {
		test(`refuses ${name}, and names the field`, () => {
			const error = findError(spec);
			expect(error).toBeInstanceOf(InvalidBudgetError);
			expect(error).toMatchObject({ field, message: expect.stringMatching(says ?? /^cannot /) });
		});
	}

	test("fails with InvalidBudgetError and a field on any JSON, or not at all", () => {
		const garbage = fc.oneof(
			fc.jsonValue(),
			fc.record(
				{
					selector: fc.oneof(fc.constant({}), fc.jsonValue()),
					minAvailable: fc.oneof(fc.nat(), fc.constant("50%"), fc.jsonValue()),
					maxUnavailable: fc.oneof(fc.nat(), fc.constant("50%"), fc.jsonValue()),
					suspend: fc.oneof(fc.boolean(), fc.jsonValue()),
					probe: fc.jsonValue(),
				},
				{ requiredKeys: [] },
			),
		);
		fc.assert(
			fc.property(garbage, (spec) => {
				const error = findError(spec);
				if (error === undefined) return;
				expect(error).toBeInstanceOf(InvalidBudgetError);
				expect(error).toMatchObject({ field: expect.stringMatching(/^spec/) });
			}),
		);
	});
});

describe("desiredHealthy()", () => {
	const rows = [
		{ name: "minAvailable as a number is itself", bound: minAvailable(2), expectedPods: 5, expected: 2 },
		{ name: "minAvailable may be more than there are", bound: minAvailable(5), expectedPods: 3, expected: 5 },
		{ name: "minAvailable 0 asks for nothing", bound: minAvailable(0), expectedPods: 3, expected: 0 },
		{ name: "maxUnavailable is taken from the expected", bound: maxUnavailable(1), expectedPods: 5, expected: 4 },
		{ name: "maxUnavailable 0 asks for all", bound: maxUnavailable(0), expectedPods: 5, expected: 5 },
		{
			name: "maxUnavailable beyond the expected asks for none",
			bound: maxUnavailable(7),
			expectedPods: 5,
			expected: 0,
		},
		{ name: "minAvailable rounds a percentage up", bound: minAvailable("50%"), expectedPods: 5, expected: 3 },
		{ name: "minAvailable 1% of one pod is that pod", bound: minAvailable("1%"), expectedPods: 1, expected: 1 },
		{ name: "minAvailable 100% is all", bound: minAvailable("100%"), expectedPods: 7, expected: 7 },
		{ name: "minAvailable 0% is nothing", bound: minAvailable("0%"), expectedPods: 7, expected: 0 },
		{ name: "a percentage that comes out even stays", bound: minAvailable("29%"), expectedPods: 100, expected: 29 },
		// As in pkg/controller/disruption: 30 % of 5 is 1.5, so 2 may be down and 3 must stay.
		{ name: "maxUnavailable rounds a percentage up too", bound: maxUnavailable("30%"), expectedPods: 5, expected: 3 },
		{ name: "maxUnavailable 1% lets one pod go", bound: maxUnavailable("1%"), expectedPods: 3, expected: 2 },
		{ name: "maxUnavailable 100% lets all go", bound: maxUnavailable("100%"), expectedPods: 3, expected: 0 },
		{ name: "of no pods a percentage is none", bound: minAvailable("50%"), expectedPods: 0, expected: 0 },
		{ name: "of no pods maxUnavailable leaves none", bound: maxUnavailable(1), expectedPods: 0, expected: 0 },
	];
	for (const { name, bound, expectedPods, expected } of rows) {
		test(name, () => {
			expect(desiredHealthy(bound, expectedPods)).toBe(expected);
		});
	}

	const pods = fc.integer({ min: 0, max: 100_000 });
	const percent = fc.integer({ min: 0, max: 100 });
	const quantity = fc.oneof(
		pods,
		percent.map((value) => `${value}%`),
	);
	const bound = fc.oneof(quantity.map(minAvailable), quantity.map(maxUnavailable));

	test("is a whole number, never below 0", () => {
		fc.assert(
			fc.property(bound, pods, (any, expected) => {
				const desired = desiredHealthy(any, expected);
				expect(Number.isSafeInteger(desired) && desired >= 0).toBe(true);
			}),
		);
	});

	test("never falls when more pods are expected", () => {
		fc.assert(
			fc.property(bound, pods, fc.nat(1000), (any, expected, more) => {
				expect(desiredHealthy(any, expected + more)).toBeGreaterThanOrEqual(desiredHealthy(any, expected));
			}),
		);
	});

	test("never falls with a higher minAvailable, never rises with a higher maxUnavailable", () => {
		fc.assert(
			fc.property(percent, percent, pods, (a, b, expected) => {
				const [low, high] = [`${Math.min(a, b)}%`, `${Math.max(a, b)}%`];
				expect(desiredHealthy(minAvailable(high), expected)).toBeGreaterThanOrEqual(
					desiredHealthy(minAvailable(low), expected),
				);
				expect(desiredHealthy(maxUnavailable(high), expected)).toBeLessThanOrEqual(
					desiredHealthy(maxUnavailable(low), expected),
				);
			}),
		);
	});

	test("is the smallest whole number that is not below the percentage", () => {
		fc.assert(
			fc.property(percent, pods, (value, expected) => {
				const desired = BigInt(desiredHealthy(minAvailable(`${value}%`), expected));
				const exact = BigInt(value) * BigInt(expected);
				expect(desired * 100n >= exact && (desired - 1n) * 100n < exact).toBe(true);
			}),
		);
	});
});

describe("needsExpectedPods()", () => {
	const rows = [
		{ name: "minAvailable as a number", bound: minAvailable(1), expected: false },
		{ name: "minAvailable as a percentage", bound: minAvailable("50%"), expected: true },
		{ name: "maxUnavailable as a number", bound: maxUnavailable(1), expected: true },
		{ name: "maxUnavailable as a percentage", bound: maxUnavailable("50%"), expected: true },
	];
	for (const { name, bound, expected } of rows) {
		test(`is ${expected} for ${name}`, () => {
			expect(needsExpectedPods(bound)).toBe(expected);
		});
	}
});

describe("what people see", () => {
	test("a bound is written as in the object", () => {
		expect([maxUnavailable(1), minAvailable("50%")].map(formatBound)).toEqual(["maxUnavailable 1", "minAvailable 50%"]);
	});

	test("a budget is written as namespace/name", () => {
		expect(formatBudgetName({ namespace: "web", name: "api" })).toBe("web/api");
	});
});
