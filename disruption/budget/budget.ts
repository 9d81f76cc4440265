// Parses an XPodDisruptionBudget (x-pdb.form3.tech/v1alpha1). Parsing is strict, because a misread bound could allow too many disruptions.
import { InvalidBudgetError } from "../errors.ts";
import { quote, shorten } from "../quote.ts";
import { isRecord } from "../record.ts";
import { type LabelSelector, parseLabelSelector } from "./selector.ts";

export type { LabelSelector } from "./selector.ts";

export const budgetApi = { group: "x-pdb.form3.tech", version: "v1alpha1", resource: "xpoddisruptionbudgets" } as const;

export interface BudgetName {
	readonly namespace: string;
	readonly name: string;
}

/** A whole number of pods, or a percentage of the expected pods (0 to 100). */
type PodQuantity =
	| { readonly kind: "number"; readonly value: number }
	| { readonly kind: "percent"; readonly value: number };

export type Bound =
	| { readonly kind: "minAvailable"; readonly quantity: PodQuantity }
	| { readonly kind: "maxUnavailable"; readonly quantity: PodQuantity };

export interface BudgetSpec {
	readonly selector: LabelSelector;
	readonly bound: Bound;
	readonly suspended: boolean;
	/** Optional fields that the budget uses. A member that does not announce all of them cannot enforce the budget. */
	readonly features: readonly BudgetFeature[];
}

type BudgetFeature = "Probe";

/** The features that this version enforces. A budget that uses another one is refused. */
export const supportedFeatures: readonly BudgetFeature[] = [];

export function formatBudgetName(budget: BudgetName): string {
	return `${budget.namespace}/${budget.name}`;
}

const knownFields = new Set(["selector", "minAvailable", "maxUnavailable", "suspend", "probe"]);

/** Throws an InvalidBudgetError that names the wrong field. */
export function parseBudgetSpec(spec: unknown): BudgetSpec {
	if (!isRecord(spec)) throw new InvalidBudgetError("cannot read budget: spec is missing", "spec");
	for (const field of Object.keys(spec)) {
		if (!knownFields.has(field)) {
			const path = `spec.${shorten(field)}`;
			throw new InvalidBudgetError(`cannot enforce budget: ${path} is not a field this version knows`, path);
		}
	}
	const min = spec["minAvailable"] ?? undefined;
	const max = spec["maxUnavailable"] ?? undefined;
	if (min === undefined && max === undefined) {
		throw new InvalidBudgetError(
			"cannot enforce budget: neither spec.minAvailable nor spec.maxUnavailable is set",
			"spec",
		);
	}
	if (min !== undefined && max !== undefined) {
		throw new InvalidBudgetError(
			"cannot enforce budget: spec.minAvailable and spec.maxUnavailable are both set, use one",
			"spec",
		);
	}
	const suspend = spec["suspend"] ?? false;
	if (typeof suspend !== "boolean") {
		throw new InvalidBudgetError(
			`cannot enforce budget: spec.suspend must be true or false, is ${quote(suspend)}`,
			"spec.suspend",
		);
	}
	if (spec["selector"] === undefined || spec["selector"] === null) {
		throw new InvalidBudgetError(
			"cannot enforce budget: spec.selector is missing ({} selects all pods of the namespace)",
			"spec.selector",
		);
	}
	return {
		selector: parseLabelSelector(spec["selector"], "spec.selector"),
		bound:
			min !== undefined
				? { kind: "minAvailable", quantity: parsePodQuantity(min, "spec.minAvailable") }
				: { kind: "maxUnavailable", quantity: parsePodQuantity(max, "spec.maxUnavailable") },
		suspended: suspend,
		features: usesProbe(spec["probe"]) ? ["Probe"] : [],
	};
}

/** Returns how many of the expected pods must stay healthy. Percentages round up, as in pkg/controller/disruption. */
export function desiredHealthy(bound: Bound, expected: number): number {
	const { kind, quantity } = bound;
	const pods = quantity.kind === "number" ? quantity.value : Math.ceil((quantity.value * expected) / 100);
	return kind === "minAvailable" ? pods : Math.max(0, expected - pods);
}

export function needsExpectedPods(bound: Bound): boolean {
	return !(bound.kind === "minAvailable" && bound.quantity.kind === "number");
}

/** For example "maxUnavailable 1" or "minAvailable 50%". */
export function formatBound(bound: Bound): string {
	return `${bound.kind} ${bound.quantity.value}${bound.quantity.kind === "percent" ? "%" : ""}`;
}

function parsePodQuantity(value: unknown, field: string): PodQuantity {
	if (typeof value === "number") {
		if (!Number.isInteger(value) || value < 0 || value > 2 ** 31 - 1) {
			throw new InvalidBudgetError(`cannot enforce budget: ${field} must be a whole number from 0, is ${value}`, field);
		}
		return { kind: "number", value };
	}
	const percent = typeof value === "string" ? /^([0-9]{1,3})%$/.exec(value) : null;
	if (!percent || Number(percent[1]) > 100) {
		throw new InvalidBudgetError(
			`cannot enforce budget: ${field} must be a whole number or a percentage from 0% to 100%, is ${quote(value)}`,
			field,
		);
	}
	return { kind: "percent", value: Number(percent[1]) };
}

/** Whether the spec uses x-pdb's `probe: {endpoint, enabled}`. An unreadable probe counts as used, so that the budget is refused. */
function usesProbe(probe: unknown): boolean {
	if (probe === undefined || probe === null) return false;
	return !(isRecord(probe) && probe["enabled"] === false);
}

/** A budget and the selector that the round counts it with. */
export interface RoundBudget {
	readonly name: BudgetName;
	readonly selector: LabelSelector;
}
