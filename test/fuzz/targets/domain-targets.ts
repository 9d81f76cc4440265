// Targets for what the domain reads: budgets, selectors, Leases and versions.
import fc from "fast-check";
import { readLease, readWatchedLease } from "../../../agent/cluster-api/read-lease.ts";
import { type BudgetSpec, desiredHealthy, formatBound, parseBudgetSpec } from "../../../disruption/budget/budget.ts";
import { coveringBudgets } from "../../../disruption/budget/covering.ts";
import { GarbledLeaseError, InvalidBudgetError } from "../../../disruption/errors.ts";
import { annotationsOf, leaseName, maxAnnotationBytes, parseLease } from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import {
	compareResourceVersions,
	isResourceVersion,
	latestResourceVersion,
} from "../../../disruption/resource-version.ts";
import {
	formatSelector,
	labelSelectorObject,
	matchesSelector,
	parseLabelSelector,
} from "../../../disruption/budget/selector.ts";
import { isLabelSelector } from "../../../plugin/flags/label-selector-text.ts";
import { attempt } from "../clear-error.ts";
import { demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { edited } from "../json-edits.ts";
import { type Json, oddText } from "../odd-values.ts";
import { budget, budgetSpecs, leaseObjects } from "../seed-objects.ts";

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const labels = fc.dictionary(fc.oneof(fc.constantFrom("app", "zone", "owner"), oddText), oddText, { maxKeys: 3 });

/** Demands the minimum of an accepted spec, written independently of the code. */
function demandWhole(spec: unknown, parsed: BudgetSpec): void {
	demand(isRecord(spec), "It took what is no object for a budget");
	const known = ["selector", "minAvailable", "maxUnavailable", "suspend", "probe"];
	demand(
		Object.keys(spec).every((key) => known.includes(key)),
		"It took a field that it does not know",
	);
	const bounds = [spec["minAvailable"], spec["maxUnavailable"]].filter(
		(bound) => bound !== undefined && bound !== null,
	);
	demand(bounds.length === 1, "It took a budget without one bound");
	const [bound] = bounds;
	const fits =
		typeof bound === "number"
			? isCount(bound) && bound < 2 ** 31
			: /^"(\d{1,2}|100|0\d\d)%"$/.test(JSON.stringify(bound));
	demand(fits, "It took a bound that is none");
	demand(isRecord(spec["selector"]), "It took a budget without a selector");
	demand([undefined, null, true, false].includes(spec["suspend"] as boolean), "It took a suspend that is no boolean");
	demand(parsed.suspended === (spec["suspend"] === true), "It suspends what is not suspended");
	const off =
		spec["probe"] === undefined ||
		spec["probe"] === null ||
		(isRecord(spec["probe"]) && spec["probe"]["enabled"] === false);
	demand(off || parsed.features.includes("Probe"), "It lost a probe");
}

function demandSelector({ selector }: BudgetSpec, pod: Readonly<Record<string, string>>): void {
	const back = parseLabelSelector(labelSelectorObject(selector), "selector");
	demand(same(back, selector), "The selector does not come back as it went");
	demand(isLabelSelector(formatSelector(selector)), `kubectl's reader does not take "${formatSelector(selector)}"`);
	for (const { key, operator, values } of selector.requirements) {
		demand(key !== "" && key.length <= 317, "It took a key that is none");
		demand(values.length > 0 === (operator === "In" || operator === "NotIn"), "It took values that do not fit");
		demand(
			values.every((value) => /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/.test(value)),
			"It took a value that is none",
		);
	}
	demand(typeof matchesSelector(selector, pod) === "boolean", "It neither matches nor does not");
}

const budgetTarget: FuzzTarget = {
	name: "budget",
	reads: "spec of an XPodDisruptionBudget",
	share: 2,
	open: () =>
		syncTarget(fc.tuple(edited(budgetSpecs), labels, fc.nat(2_000)), ([spec, pod, expected]) => {
			const covering = coveringBudgets([{ name: budget, spec }], { namespace: "shop", labels: pod });
			const parsed = attempt(() => parseBudgetSpec(spec), [InvalidBudgetError], "spec");
			const selector = isRecord(spec) ? spec["selector"] : undefined;
			if (!parsed) {
				const readable = attempt(
					() => parseLabelSelector(selector, "spec.selector"),
					[InvalidBudgetError],
					"spec.selector",
				);
				demand(readable !== undefined || covering.length === 1, "A budget that cannot be read covers nothing");
				return;
			}
			demandWhole(spec, parsed);
			demandSelector(parsed, pod);
			demand(covering.length === (matchesSelector(parsed.selector, pod) ? 1 : 0), "It covers what it does not select");
			const desired = desiredHealthy(parsed.bound, expected);
			demand(isCount(desired), `It wants ${desired} healthy pods`);
			const { kind, quantity } = parsed.bound;
			if (kind === "maxUnavailable" && quantity.kind === "number")
				demand(expected - desired <= quantity.value, "It lets more pods go than it says");
			demand(desiredHealthy(parsed.bound, expected + 1) >= desired, "More pods need fewer healthy ones");
			demand(/^(min|max)[A-Z][a-z]+ \d+%?$/.test(formatBound(parsed.bound)), "Its bound cannot be shown");
		}),
};

const cutLeases: fc.Arbitrary<Json> = fc
	.tuple(fc.constantFrom(...leaseObjects), fc.nat(400), oddText, fc.boolean())
	.map(([seed, at, text, cut]) => {
		const lease = structuredClone(seed) as { metadata: { annotations: Record<string, string> } };
		const state = lease.metadata.annotations[stateAnnotation] ?? "";
		lease.metadata.annotations[stateAnnotation] = state.slice(0, at) + (cut ? "" : text + state.slice(at));
		return lease;
	});

/** Demands that an unreadable Lease that a watch keeps cannot be used. */
function demandRefused(raw: unknown): void {
	const kept = attempt(() => readWatchedLease(raw, "eu-1"), [GarbledLeaseError], /Lease/, "eu-1");
	if (!kept) return;
	const lease = attempt(() => parseLease(kept, "eu-1"), [GarbledLeaseError], "Lease", "eu-1");
	demand(!lease, "It took a Lease that cannot be read");
}

const leaseTarget: FuzzTarget = {
	name: "lease",
	reads: "Leases and the state in their annotations",
	share: 3,
	open: () =>
		syncTarget(fc.oneof({ weight: 5, arbitrary: edited(leaseObjects) }, { weight: 1, arbitrary: cutLeases }), (raw) => {
			const object = attempt(() => readLease(raw, "eu-1"), [GarbledLeaseError], /Lease/, "eu-1");
			if (!object) return demandRefused(raw);
			const lease = attempt(() => parseLease(object, "eu-1"), [GarbledLeaseError], "Lease", "eu-1");
			if (!lease) return;
			demand(leaseName(lease.budget) === lease.name, "It took the Lease of another budget");
			demand(isResourceVersion(lease.resourceVersion), "It took a version that cannot be ordered");
			demand(isCount(lease.transitions) && lease.transitions < 2 ** 31, "It took transitions that cannot be sent");
			demand(lease.durationMs >= 1_000 && lease.durationMs <= 10_000, "It took a duration without end");
			const { state } = lease;
			demand((state.phase === "held") === (lease.holder !== ""), "It is not held, or free and held");
			demand(isCount(state.renewals), "It took renewals that cannot be counted up");
			demand(state.phase !== "held" || state.nonce !== "", "It is held without a nonce");
			demand(state.observed === "" || isResourceVersion(state.observed), "It took an observed that cannot be ordered");
			for (const reservation of state.reservations) {
				const { id, uid, name, resourceVersion, sinceSeconds } = reservation;
				demand(
					[id, uid, name].every((text) => text !== ""),
					"It took half a reservation",
				);
				demand(isResourceVersion(resourceVersion), "It took a reservation without a version");
				demand(isCount(Math.round(sinceSeconds)), "It took a time that cannot be sent");
			}
			const annotations = annotationsOf(lease);
			const back = parseLease({ ...object, annotations });
			demand(same(back.state, state), "Its state does not come back as it went");
			demand(
				Object.keys(object.annotations).every((key) => key in annotations),
				"It lost an annotation of others",
			);
			demand(maxAnnotationBytes === 262_144, "The limit of annotations moved");
		}),
};

const versionText = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String), fc.nat(1_000).map(String), oddText);

const resourceVersionTarget: FuzzTarget = {
	name: "resource-version",
	reads: "resourceVersions",
	share: 1,
	open: () =>
		syncTarget(fc.tuple(versionText, versionText), ([a, b]) => {
			const readable = [a, b].every((text) => text === "" || isResourceVersion(text));
			const order = attempt(() => compareResourceVersions(a, b), [TypeError], "resourceVersion");
			demand((order !== undefined) === readable, "It orders what is no version, or does not order what is");
			if (order === undefined) return;
			const number = (text: string): bigint => (text === "" ? -1n : BigInt(text));
			const right = number(a) < number(b) ? -1 : number(a) > number(b) ? 1 : 0;
			demand(Math.sign(order) === right, `It orders ${a} and ${b} as ${order}`);
			demand(latestResourceVersion(a, b) === (right < 0 ? b : a), "The latest is not the latest");
		}),
};

export const domainTargets: readonly FuzzTarget[] = [budgetTarget, leaseTarget, resourceVersionTarget];
