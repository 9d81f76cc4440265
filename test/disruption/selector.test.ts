import { describe, expect, test } from "vitest";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { formatSelector, matchesSelector, parseLabelSelector } from "../../disruption/budget/selector.ts";

const parse = (value: unknown) => parseLabelSelector(value, "spec.selector");
const expression = (key: string, operator: string, values?: unknown) => ({
	matchExpressions: [{ key, operator, values }],
});

function findError(value: unknown): unknown {
	try {
		parse(value);
		return undefined;
	} catch (error) {
		return error;
	}
}

describe("matchesSelector()", () => {
	const rows: { name: string; selector: object; labels: Record<string, string>; expected: boolean }[] = [
		{ name: "an empty selector selects a pod without labels", selector: {}, labels: {}, expected: true },
		{ name: "an empty selector selects any pod", selector: {}, labels: { app: "web" }, expected: true },
		{
			name: "empty lists are an empty selector",
			selector: { matchLabels: {}, matchExpressions: [] },
			labels: {},
			expected: true,
		},
		{
			name: "nulls are an empty selector",
			selector: { matchLabels: null, matchExpressions: null },
			labels: {},
			expected: true,
		},
		{
			name: "matchLabels: same value",
			selector: { matchLabels: { app: "web" } },
			labels: { app: "web", x: "y" },
			expected: true,
		},
		{
			name: "matchLabels: other value",
			selector: { matchLabels: { app: "web" } },
			labels: { app: "db" },
			expected: false,
		},
		{ name: "matchLabels: key absent", selector: { matchLabels: { app: "web" } }, labels: {}, expected: false },
		{
			name: "matchLabels: an empty value is a value",
			selector: { matchLabels: { app: "" } },
			labels: { app: "" },
			expected: true,
		},
		{
			name: "matchLabels: an empty value is not an absent key",
			selector: { matchLabels: { app: "" } },
			labels: {},
			expected: false,
		},
		{
			name: "matchLabels: all must match",
			selector: { matchLabels: { a: "1", b: "2" } },
			labels: { a: "1" },
			expected: false,
		},
		{
			name: "In: one of the values",
			selector: expression("app", "In", ["web", "db"]),
			labels: { app: "db" },
			expected: true,
		},
		{
			name: "In: none of the values",
			selector: expression("app", "In", ["web"]),
			labels: { app: "db" },
			expected: false,
		},
		{ name: "In: key absent", selector: expression("app", "In", ["web"]), labels: {}, expected: false },
		{
			name: "NotIn: other value",
			selector: expression("app", "NotIn", ["web"]),
			labels: { app: "db" },
			expected: true,
		},
		{
			name: "NotIn: one of the values",
			selector: expression("app", "NotIn", ["web", "db"]),
			labels: { app: "db" },
			expected: false,
		},
		{
			name: "NotIn: an absent key is selected",
			selector: expression("app", "NotIn", ["web"]),
			labels: {},
			expected: true,
		},
		{ name: "Exists: with a value", selector: expression("app", "Exists"), labels: { app: "web" }, expected: true },
		{ name: "Exists: with an empty value", selector: expression("app", "Exists"), labels: { app: "" }, expected: true },
		{ name: "Exists: key absent", selector: expression("app", "Exists", []), labels: {}, expected: false },
		{ name: "DoesNotExist: key absent", selector: expression("app", "DoesNotExist"), labels: {}, expected: true },
		{
			name: "DoesNotExist: with an empty value",
			selector: expression("app", "DoesNotExist"),
			labels: { app: "" },
			expected: false,
		},
		{
			name: "labels and expressions are all asked for",
			selector: { matchLabels: { app: "web" }, ...expression("tier", "Exists") },
			labels: { app: "web" },
			expected: false,
		},
		{
			name: "requirements that contradict each other select nothing",
			selector: { matchLabels: { app: "web" }, ...expression("app", "In", ["db"]) },
			labels: { app: "web" },
			expected: false,
		},
		{
			name: "keys and values are case-sensitive",
			selector: { matchLabels: { app: "web" } },
			labels: { App: "web", app: "Web" },
			expected: false,
		},
		{
			name: "a label that every object seems to have is still absent",
			selector: expression("constructor", "Exists"),
			labels: {},
			expected: false,
		},
	];
	for (const { name, selector, labels, expected } of rows) {
		test(name, () => {
			expect(matchesSelector(parse(selector), labels)).toBe(expected);
		});
	}
});

describe("parseLabelSelector()", () => {
	const long = (length: number) => "a".repeat(length);
	const valid = [
		{ name: "a key of 63 characters", selector: expression(long(63), "Exists") },
		{ name: "a prefix of 253 characters", selector: expression(`${long(253)}/app`, "Exists") },
		{ name: "a prefix of several DNS labels", selector: expression("a-1.example.com/app", "Exists") },
		{ name: "a key of one character", selector: expression("a", "Exists") },
		{
			name: "a key with dots, dashes, underscores and capitals",
			selector: expression("App.kubernetes-io_Name", "Exists"),
		},
		{ name: "a value of 63 characters", selector: { matchLabels: { app: long(63) } } },
		{ name: "an empty value", selector: expression("app", "In", [""]) },
	];
	for (const { name, selector } of valid) {
		test(`takes ${name}`, () => {
			expect(() => parse(selector)).not.toThrow();
		});
	}

	const at = "spec.selector";
	const invalid: { name: string; selector: unknown; field: string }[] = [
		{ name: "text", selector: "app=web", field: at },
		{ name: "nothing", selector: undefined, field: at },
		{ name: "null", selector: null, field: at },
		{ name: "a list", selector: [], field: at },
		{ name: "an unknown field", selector: { matchlabels: {} }, field: `${at}.matchlabels` },
		{ name: "matchLabels that are a list", selector: { matchLabels: [] }, field: `${at}.matchLabels` },
		{ name: "matchExpressions that are no list", selector: { matchExpressions: {} }, field: `${at}.matchExpressions` },
		{ name: "a label value that is a number", selector: { matchLabels: { app: 1 } }, field: `${at}.matchLabels[app]` },
		{ name: "a label value that is null", selector: { matchLabels: { app: null } }, field: `${at}.matchLabels[app]` },
		{
			name: "a label value of 64 characters",
			selector: { matchLabels: { app: long(64) } },
			field: `${at}.matchLabels[app]`,
		},
		{ name: "a label value with a space", selector: { matchLabels: { app: "a b" } }, field: `${at}.matchLabels[app]` },
		{
			name: "a label value that ends in a dash",
			selector: { matchLabels: { app: "a-" } },
			field: `${at}.matchLabels[app]`,
		},
		{
			name: "a label value that ends in a line break",
			selector: { matchLabels: { app: "a\n" } },
			field: `${at}.matchLabels[app]`,
		},
		{ name: "an empty key", selector: { matchLabels: { "": "a" } }, field: `${at}.matchLabels[]` },
		{ name: "a requirement that is text", selector: { matchExpressions: ["app"] }, field: `${at}.matchExpressions[0]` },
		{
			name: "an unknown field in the second requirement",
			selector: {
				matchExpressions: [
					{ key: "a", operator: "Exists" },
					{ key: "a", operator: "Exists", value: "x" },
				],
			},
			field: `${at}.matchExpressions[1].value`,
		},
		{
			name: "a missing key",
			selector: { matchExpressions: [{ operator: "Exists" }] },
			field: `${at}.matchExpressions[0].key`,
		},
		{
			name: "a key of 64 characters",
			selector: expression(long(64), "Exists"),
			field: `${at}.matchExpressions[0].key`,
		},
		{
			name: "a prefix of 254 characters",
			selector: expression(`${long(254)}/a`, "Exists"),
			field: `${at}.matchExpressions[0].key`,
		},
		{ name: "an empty prefix", selector: expression("/a", "Exists"), field: `${at}.matchExpressions[0].key` },
		{
			name: "a prefix with capitals",
			selector: expression("Example.com/a", "Exists"),
			field: `${at}.matchExpressions[0].key`,
		},
		{ name: "a key with two slashes", selector: expression("a/b/c", "Exists"), field: `${at}.matchExpressions[0].key` },
		{ name: "a key with a prefix only", selector: expression("a/", "Exists"), field: `${at}.matchExpressions[0].key` },
		{
			name: "a missing operator",
			selector: { matchExpressions: [{ key: "a" }] },
			field: `${at}.matchExpressions[0].operator`,
		},
		{
			name: "an operator in other letters",
			selector: expression("a", "in", ["b"]),
			field: `${at}.matchExpressions[0].operator`,
		},
		{
			name: "an operator of node selectors",
			selector: expression("a", "Gt", ["1"]),
			field: `${at}.matchExpressions[0].operator`,
		},
		{ name: "In without values", selector: expression("a", "In", []), field: `${at}.matchExpressions[0].values` },
		{
			name: "NotIn with null for values",
			selector: expression("a", "NotIn", null),
			field: `${at}.matchExpressions[0].values`,
		},
		{
			name: "Exists with values",
			selector: expression("a", "Exists", ["b"]),
			field: `${at}.matchExpressions[0].values`,
		},
		{
			name: "DoesNotExist with values",
			selector: expression("a", "DoesNotExist", ["b"]),
			field: `${at}.matchExpressions[0].values`,
		},
		{ name: "values that are text", selector: expression("a", "In", "b"), field: `${at}.matchExpressions[0].values` },
		{
			name: "a value that is a number",
			selector: expression("a", "In", ["b", 1]),
			field: `${at}.matchExpressions[0].values[1]`,
		},
	];
	for (const { name, selector, field } of invalid) {
		test(`refuses ${name}, and names the field`, () => {
			const error = findError(selector);
			expect(error).toBeInstanceOf(InvalidBudgetError);
			expect(error).toMatchObject({ field });
		});
	}

	const equal = [
		{
			name: "matchLabels and an In of one value",
			a: { matchLabels: { app: "web" } },
			b: expression("app", "In", ["web"]),
		},
		{ name: "labels in another order", a: { matchLabels: { a: "1", b: "2" } }, b: { matchLabels: { b: "2", a: "1" } } },
		{
			name: "values in another order, and twice",
			a: expression("a", "In", ["x", "y"]),
			b: expression("a", "In", ["y", "x", "y"]),
		},
		{
			name: "a requirement that is repeated",
			a: expression("a", "Exists"),
			b: {
				matchExpressions: [
					{ key: "a", operator: "Exists" },
					{ key: "a", operator: "Exists", values: [] },
				],
			},
		},
		{ name: "empty and absent parts", a: {}, b: { matchLabels: {}, matchExpressions: [] } },
	];
	for (const { name, a, b } of equal) {
		test(`takes ${name} for the same selector`, () => {
			expect(parse(a)).toEqual(parse(b));
			expect(formatSelector(parse(a))).toBe(formatSelector(parse(b)));
		});
	}

	const different = [
		{ name: "other values", a: expression("a", "In", ["x"]), b: expression("a", "In", ["x", "y"]) },
		{ name: "other operators", a: expression("a", "Exists"), b: expression("a", "DoesNotExist") },
		{ name: "an empty value and Exists", a: { matchLabels: { a: "" } }, b: expression("a", "Exists") },
		{ name: "empty and not empty", a: {}, b: expression("a", "DoesNotExist") },
	];
	for (const { name, a, b } of different) {
		test(`tells apart ${name}`, () => {
			expect(parse(a)).not.toEqual(parse(b));
			expect(formatSelector(parse(a))).not.toBe(formatSelector(parse(b)));
		});
	}
});

describe("formatSelector()", () => {
	const rows = [
		{ name: "everything", selector: {}, expected: "" },
		{ name: "one value", selector: { matchLabels: { app: "web" } }, expected: "app=web" },
		{ name: "an empty value", selector: { matchLabels: { app: "" } }, expected: "app=" },
		{ name: "several values", selector: expression("app", "In", ["web", "db"]), expected: "app in (db,web)" },
		{ name: "values to avoid", selector: expression("app", "NotIn", ["web", "db"]), expected: "app notin (db,web)" },
		{ name: "a key", selector: expression("app", "Exists"), expected: "app" },
		{ name: "no key", selector: expression("example.com/app", "DoesNotExist"), expected: "!example.com/app" },
		{
			name: "several requirements",
			selector: { matchLabels: { b: "2", a: "1" }, ...expression("c", "Exists") },
			expected: "a=1,b=2,c",
		},
	];
	for (const { name, selector, expected } of rows) {
		test(`writes ${name} as kubectl does`, () => {
			expect(formatSelector(parse(selector))).toBe(expected);
		});
	}
});
