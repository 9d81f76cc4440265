// Generates random specs of budgets, valid and invalid. Only bounds can have a wrong type.
import fc from "fast-check";

const dnsLabel = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,5}[a-z0-9])?$/);
const name = fc.oneof(
	{ weight: 6, arbitrary: fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/) },
	fc.stringMatching(/^[-A-Za-z0-9_.]{0,4}$/),
	fc.constantFrom("x".repeat(63), "x".repeat(64), "toString", "__proto__x"),
	fc.string({ maxLength: 3 }),
);
const prefix = fc.oneof(
	{ weight: 5, arbitrary: fc.array(dnsLabel, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")) },
	fc.stringMatching(/^[-A-Za-z0-9.]{0,5}$/),
	fc.constantFrom("a".repeat(253), "a".repeat(254), "a..b", ".a", "a.", "a/b", ""),
);
const key = fc.oneof(
	{ weight: 3, arbitrary: name },
	fc.tuple(prefix, name).map(([before, after]) => `${before}/${after}`),
);
const value = fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom("", "x y", "é", "x\n", "-x"));

/** Generates percentages, and texts that are nearly percentages. */
const percentage = fc.oneof(
	fc.integer({ min: 0, max: 102 }).map((number) => `${number}%`),
	fc.stringMatching(/^[0-9]{0,4}%$/),
	fc.constantFrom("1", "", "%", "1%%", " 1%", "1%\n", "+1%", "-1%", "1.5%", "banana", "١%", "000%", "100%", "101%"),
);
const bound = fc.oneof(
	{ weight: 3, arbitrary: fc.integer({ min: -2, max: 200 }) },
	{ weight: 3, arbitrary: percentage },
	fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 53, 1.5, -0.5, 1e30, true, "1e3", null),
);

const requirement = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.record({
			key,
			operator: fc.constantFrom("In", "NotIn"),
			values: fc.array(value, { minLength: 1, maxLength: 3 }),
		}),
	},
	{ weight: 3, arbitrary: fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist") }) },
	fc.record(
		{
			key,
			operator: fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist", "Like", "in", ""),
			values: fc.array(value, { maxLength: 2 }),
		},
		{ requiredKeys: [] },
	),
);
const selector = fc.record(
	{
		matchLabels: fc.dictionary(key, value, { maxKeys: 2, noNullPrototype: true }),
		matchExpressions: fc.array(requirement, { maxLength: 2 }),
	},
	{ requiredKeys: [] },
);
const rest = {
	selector,
	suspend: fc.boolean(),
	probe: fc.record({ endpoint: fc.string({ maxLength: 5 }), enabled: fc.boolean() }, { requiredKeys: [] }),
};

/** Most have one bound and a selector, like most real budgets. */
export const anyBudgetSpec: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
	{ weight: 3, arbitrary: fc.record({ ...rest, minAvailable: bound }, { requiredKeys: ["selector", "minAvailable"] }) },
	{
		weight: 3,
		arbitrary: fc.record({ ...rest, maxUnavailable: bound }, { requiredKeys: ["selector", "maxUnavailable"] }),
	},
	fc.record({ ...rest, minAvailable: bound, maxUnavailable: bound }, { requiredKeys: [] }),
);
