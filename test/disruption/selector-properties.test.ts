import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { labelSelectorObject, matchesSelector, parseLabelSelector } from "../../disruption/budget/selector.ts";

const parse = (selector: unknown) => parseLabelSelector(selector, "spec.selector");

const expression = (key: string, operator: string, values: readonly string[]) => ({
	matchExpressions: [{ key, operator, values }],
});

function findError(run: () => unknown): unknown {
	try {
		run();
		return undefined;
	} catch (error) {
		return error;
	}
}

// Few letters, so that generated selectors and labels match.
const anyKey = fc.constantFrom("a", "b", "example.com/a", "toString", "hasOwnProperty");
const anyValue = fc.constantFrom("", "x", "y", "z");
const anyValues = fc.array(anyValue, { minLength: 1, maxLength: 4 });
const requirement = fc.oneof(
	fc.record({ key: anyKey, operator: fc.constantFrom("In", "NotIn"), values: anyValues }),
	fc.record({ key: anyKey, operator: fc.constantFrom("Exists", "DoesNotExist") }),
);
const labelSelector = fc.record(
	{ matchLabels: fc.dictionary(anyKey, anyValue), matchExpressions: fc.array(requirement, { maxLength: 4 }) },
	{ requiredKeys: [] },
);

describe("selectors of any kind", () => {
	test("come back the same when written as an object and parsed again", () => {
		fc.assert(
			fc.property(labelSelector, (selector) => {
				expect(parse(labelSelectorObject(parse(selector)))).toEqual(parse(selector));
			}),
		);
	});

	test("select a pod if and only if each of their requirements does", () => {
		fc.assert(
			fc.property(labelSelector, fc.dictionary(anyKey, anyValue), (selector, labels) => {
				const { requirements } = parse(selector);
				const each = requirements.every((one) => matchesSelector({ requirements: [one] }, labels));
				expect(matchesSelector({ requirements }, labels)).toBe(each);
			}),
		);
	});

	test("select no pod by In that they select by NotIn", () => {
		fc.assert(
			fc.property(anyKey, anyValues, fc.dictionary(anyKey, anyValue), (key, values, labels) => {
				const isIn = matchesSelector(parse(expression(key, "In", values)), labels);
				expect(matchesSelector(parse(expression(key, "NotIn", values)), labels)).toBe(!isIn);
			}),
		);
	});

	test("fail with InvalidBudgetError and a field, or not at all", () => {
		const garbage = fc.oneof(
			fc.jsonValue(),
			fc.record({ matchLabels: fc.jsonValue(), matchExpressions: fc.jsonValue() }, { requiredKeys: [] }),
			fc.record({
				matchExpressions: fc.array(
					fc.record({
						key: fc.jsonValue(),
						operator: fc.oneof(fc.constant("In"), fc.jsonValue()),
						values: fc.jsonValue(),
					}),
				),
			}),
		);
		fc.assert(
			fc.property(garbage, (selector) => {
				const error = findError(() => parse(selector));
				if (error === undefined) return;
				expect(error).toBeInstanceOf(InvalidBudgetError);
				expect(error).toMatchObject({ field: expect.stringMatching(/^spec\.selector/) });
			}),
		);
	});
});
