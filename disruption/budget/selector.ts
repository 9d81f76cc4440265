// Parses, matches and formats label selectors by the rules of Kubernetes (apimachinery LabelSelectorAsSelector and
// labels.Requirement.Matches).
import { InvalidBudgetError } from "../errors.ts";
import { quote, shorten } from "../quote.ts";
import { isRecord } from "../record.ts";

interface LabelSelectorRequirement {
	readonly key: string;
	readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
	readonly values: readonly string[];
}

/**
 * A parsed selector in canonical form. matchLabels become In requirements. Requirements and values are sorted and unique. Without
 * requirements it selects every pod.
 */
export interface LabelSelector {
	readonly requirements: readonly LabelSelectorRequirement[];
}

const operators = ["In", "NotIn", "Exists", "DoesNotExist"] as const;
const namePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;
const prefixPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Parses a metav1.LabelSelector. Throws an InvalidBudgetError that names the field under `path`. */
export function parseLabelSelector(value: unknown, path: string): LabelSelector {
	if (!isRecord(value)) throw new InvalidBudgetError(`cannot read selector: ${path} must be an object`, path);
	for (const field of Object.keys(value)) {
		if (field !== "matchLabels" && field !== "matchExpressions") {
			const unknown = `${path}.${shorten(field)}`;
			throw new InvalidBudgetError(`cannot read selector: ${unknown} is not a field of a label selector`, unknown);
		}
	}
	const labels = value["matchLabels"] ?? {};
	if (!isRecord(labels))
		throw new InvalidBudgetError(`cannot read selector: ${path}.matchLabels must be an object`, `${path}.matchLabels`);
	const expressions = value["matchExpressions"] ?? [];
	if (!Array.isArray(expressions)) {
		throw new InvalidBudgetError(
			`cannot read selector: ${path}.matchExpressions must be a list`,
			`${path}.matchExpressions`,
		);
	}
	const requirements: LabelSelectorRequirement[] = [];
	for (const [key, label] of Object.entries(labels)) {
		const field = `${path}.matchLabels[${shorten(key)}]`;
		requirements.push({ key: labelKey(key, field), operator: "In", values: [labelValue(label, field)] });
	}
	expressions.forEach((expression: unknown, index) => {
		requirements.push(parseRequirement(expression, `${path}.matchExpressions[${index}]`));
	});
	return canonical(requirements);
}

/** NotIn and DoesNotExist match if the key is absent, as in Kubernetes. */
export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
	return selector.requirements.every((requirement) => meetsRequirement(requirement, labels));
}

/** Whether the labels meet one requirement. These operators mean the same in node selectors. */
export function meetsRequirement(
	{ key, operator, values }: LabelSelectorRequirement,
	labels: Readonly<Record<string, string>>,
): boolean {
	const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
	switch (operator) {
		case "In":
			return value !== undefined && values.includes(value);
		case "NotIn":
			return value === undefined || !values.includes(value);
		case "Exists":
			return value !== undefined;
		case "DoesNotExist":
			return value === undefined;
	}
}

/** Returns the selector as a list request takes it (`app in (a,b),!old`). "" selects everything. Equal selectors have equal texts. */
export function formatSelector(selector: LabelSelector): string {
	return selector.requirements
		.map(({ key, operator, values }) => {
			switch (operator) {
				case "In":
					return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
				case "NotIn":
					return `${key} notin (${values.join(",")})`;
				case "Exists":
					return key;
				case "DoesNotExist":
					return `!${key}`;
			}
		})
		.join(",");
}

/** Returns the selector as a metav1.LabelSelector. parseLabelSelector reads it back unchanged. */
export function labelSelectorObject(selector: LabelSelector): { matchExpressions: LabelSelectorRequirement[] } {
	return {
		matchExpressions: selector.requirements.map(({ key, operator, values }) => ({
			key,
			operator,
			values: operator === "In" || operator === "NotIn" ? [...values] : [],
		})),
	};
}

function parseRequirement(value: unknown, path: string): LabelSelectorRequirement {
	if (!isRecord(value)) throw new InvalidBudgetError(`cannot read selector: ${path} must be an object`, path);
	for (const field of Object.keys(value)) {
		if (field !== "key" && field !== "operator" && field !== "values") {
			const unknown = `${path}.${shorten(field)}`;
			throw new InvalidBudgetError(`cannot read selector: ${unknown} is not a field of a requirement`, unknown);
		}
	}
	const key = labelKey(value["key"], `${path}.key`);
	const operator = operators.find((known) => known === value["operator"]);
	if (!operator) {
		throw new InvalidBudgetError(
			`cannot read selector: ${path}.operator must be one of ${operators.join(", ")}, is ${quote(value["operator"])}`,
			`${path}.operator`,
		);
	}
	const values: unknown = value["values"] ?? [];
	if (!Array.isArray(values))
		throw new InvalidBudgetError(`cannot read selector: ${path}.values must be a list`, `${path}.values`);
	const takesValues = operator === "In" || operator === "NotIn";
	if (takesValues !== values.length > 0) {
		throw new InvalidBudgetError(
			`cannot read selector: ${path}.values must ${takesValues ? "not be" : "be"} empty for operator ${operator}`,
			`${path}.values`,
		);
	}
	return { key, operator, values: values.map((item: unknown, index) => labelValue(item, `${path}.values[${index}]`)) };
}

/** Reads an optional DNS prefix of at most 253 characters and "/", then a name of at most 63. */
function labelKey(value: unknown, path: string): string {
	const parts = typeof value === "string" ? value.split("/") : [];
	const name = parts.at(-1) ?? "";
	const prefix = parts.length === 2 ? (parts[0] ?? "") : undefined;
	const valid =
		typeof value === "string" &&
		parts.length <= 2 &&
		name.length <= 63 &&
		namePattern.test(name) &&
		(prefix === undefined || (prefix.length <= 253 && prefixPattern.test(prefix)));
	if (!valid) throw new InvalidBudgetError(`cannot read selector: ${path} is not a label key: ${quote(value)}`, path);
	return value;
}

function labelValue(value: unknown, path: string): string {
	if (typeof value !== "string" || value.length > 63 || (value !== "" && !namePattern.test(value))) {
		throw new InvalidBudgetError(`cannot read selector: ${path} is not a label value: ${quote(value)}`, path);
	}
	return value;
}

function canonical(requirements: readonly LabelSelectorRequirement[]): LabelSelector {
	// Most selectors have one label, which needs no sorting.
	if (requirements.length === 1 && (requirements[0]?.values.length ?? 0) <= 1) return { requirements };
	const unique = new Map<string, LabelSelectorRequirement>();
	for (const { key, operator, values } of requirements) {
		const sorted = [...new Set(values)].toSorted();
		unique.set(JSON.stringify([key, operator, sorted]), { key, operator, values: sorted });
	}
	return { requirements: [...unique.keys()].toSorted().flatMap((text) => unique.get(text) ?? []) };
}
