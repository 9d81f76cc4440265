// Specs of budgets, each of which breaks one rule of the CustomResourceDefinition.

export interface BrokenRule {
	readonly rule: string;
	readonly spec: Readonly<Record<string, unknown>>;
	/** A part of the refusal in all supported versions of Kubernetes. */
	readonly says: string;
	/** A merge patch of the spec that changes the broken field but leaves it broken. */
	readonly other: object;
	/** A merge patch of the spec that repairs it. */
	readonly fixed: object;
}

const selector = { matchLabels: { app: "db" } };
const matchLabels = (labels: Readonly<Record<string, string>>) => ({ selector: { matchLabels: labels } });
const expression = (requirement: object) => ({ selector: { matchExpressions: [requirement] } });
const bound = "without quotes, or a percentage from 0% to 100%";
const labels = { fixed: { selector: { matchLabels: null } } } as const;
const expressions = { fixed: { selector: { matchExpressions: null } } } as const;

/** One rule covers both bounds. The two values of each row break it in the same way. */
const badBounds: readonly (readonly [string, string, unknown, unknown])[] = [
	["a word as a bound", "maxUnavailable", "banana", "apple"],
	["a number in quotes", "minAvailable", "1", "2"],
	["more than 100 %", "maxUnavailable", "150%", "101%"],
	["a percentage of four digits", "minAvailable", "0100%", "0050%"],
	["a fraction of a percentage", "minAvailable", "33.3%", "66.6%"],
	["a negative bound", "maxUnavailable", -1, -2],
	["a bound beyond an int32", "minAvailable", 2 ** 31, 2 ** 31 + 1],
];

export const brokenRules: readonly BrokenRule[] = [
	{
		rule: "no selector",
		spec: { maxUnavailable: 1 },
		says: "spec.selector: Required value: select the pods that the budget covers",
		other: { selector: { matchLabels: { app: "not a value" } } },
		fixed: { selector },
	},
	{
		rule: "neither bound",
		spec: { selector },
		says: "spec: Required value: set minAvailable or maxUnavailable",
		other: { minAvailable: 1, maxUnavailable: 1 },
		fixed: { maxUnavailable: 1 },
	},
	{
		rule: "both bounds",
		spec: { selector, minAvailable: 1, maxUnavailable: 1 },
		says: "minAvailable and maxUnavailable are both set, use one",
		other: { minAvailable: 2 },
		fixed: { minAvailable: null },
	},
	...badBounds.map(([rule, field, value, another]) => ({
		rule,
		spec: { selector, [field]: value },
		says: bound,
		other: { [field]: another },
		fixed: { [field]: 1 },
	})),
	{
		rule: "a label key that is none",
		spec: { maxUnavailable: 1, ...matchLabels({ "not a key": "x" }) },
		says: "spec.selector.matchLabels: Invalid value",
		other: matchLabels({ "nor a key": "x" }),
		...labels,
	},
	{
		rule: "a label key with another prefix than a DNS subdomain",
		spec: { maxUnavailable: 1, ...matchLabels({ "Example.com/key": "x" }) },
		says: "the prefix of a key must be a DNS subdomain",
		other: matchLabels({ "Example.org/key": "x" }),
		...labels,
	},
	{
		rule: "a label value that is none",
		spec: { maxUnavailable: 1, ...matchLabels({ app: "not a value" }) },
		says: "spec.selector.matchLabels.app: Invalid value",
		other: matchLabels({ app: "nor a value" }),
		...labels,
	},
	{
		rule: "a label value that is too long",
		spec: { maxUnavailable: 1, ...matchLabels({ app: "x".repeat(64) }) },
		says: "spec.selector.matchLabels.app: Too long",
		other: matchLabels({ app: "y".repeat(64) }),
		...labels,
	},
	{
		rule: "an expression with another key than a label key",
		spec: { maxUnavailable: 1, ...expression({ key: "a/b/c", operator: "Exists" }) },
		says: "spec.selector.matchExpressions[0].key: Invalid value",
		other: expression({ key: "a/b/d", operator: "Exists" }),
		...expressions,
	},
	{
		rule: "an expression whose key has another prefix than a DNS subdomain",
		spec: { maxUnavailable: 1, ...expression({ key: "a..b/c", operator: "Exists" }) },
		says: "spec.selector.matchExpressions[0].key: Invalid value",
		other: expression({ key: "a..b/d", operator: "Exists" }),
		...expressions,
	},
	{
		rule: "an operator that nobody knows",
		spec: { maxUnavailable: 1, ...expression({ key: "app", operator: "Like", values: ["db"] }) },
		says: 'spec.selector.matchExpressions[0].operator: Unsupported value: "Like"',
		other: expression({ key: "app", operator: "Gt", values: ["db"] }),
		...expressions,
	},
	{
		rule: "In without values",
		spec: { maxUnavailable: 1, ...expression({ key: "app", operator: "In" }) },
		says: "spec.selector.matchExpressions: Invalid value",
		other: expression({ key: "app", operator: "NotIn", values: [] }),
		...expressions,
	},
	{
		rule: "Exists with values",
		spec: { maxUnavailable: 1, ...expression({ key: "app", operator: "Exists", values: ["db"] }) },
		says: "In and NotIn need values, Exists and DoesNotExist take none",
		other: expression({ key: "app", operator: "DoesNotExist", values: ["db"] }),
		...expressions,
	},
	{
		rule: "an expression with another value than a label value",
		spec: { maxUnavailable: 1, ...expression({ key: "app", operator: "In", values: ["db", "not a value"] }) },
		says: "spec.selector.matchExpressions[0].values[1]: Invalid value",
		other: expression({ key: "app", operator: "In", values: ["db", "nor a value"] }),
		...expressions,
	},
];
