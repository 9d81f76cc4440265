import { describe, expect, test } from "vitest";
import { GarbledLeaseError } from "../../disruption/errors.ts";
import { budgetAnnotation, parseLease } from "../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../disruption/lease/lease-text.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { leaseFields, newController, newLease, newReservation } from "../support/build-lease.ts";

const good = leaseFields(
	newLease({
		holder: "drain-7f",
		durationMs: 10_000,
		transitions: 3,
		state: {
			nonce: "nonce-1",
			phase: "held",
			observed: "9",
			reservations: [newReservation("db-0")],
			controllers: [newController("db")],
		},
	}),
);

function withAnnotation(key: string, value: string | undefined): LeaseObject {
	const { [key]: _, ...others } = good.annotations;
	return { ...good, annotations: value === undefined ? others : { ...others, [key]: value } };
}

function withState(fields: Readonly<Record<string, unknown>>): LeaseObject {
	const state: unknown = JSON.parse(good.annotations[stateAnnotation] ?? "");
	return withAnnotation(stateAnnotation, JSON.stringify({ ...(state as object), ...fields }));
}

const row = ["id-db-0", "uid-db-0", "db-0", "100", 0, 12, 0];
const controllerRow = ["apps/v1", "StatefulSet", "db", "uid-of-db"];

function withCell(index: number, value: unknown): LeaseObject {
	return withState({ reservations: [row.with(index, value as string)] });
}

function withTransitions(leaseTransitions: number): LeaseObject {
	return { ...good, spec: { ...good.spec, leaseTransitions } };
}

describe("parseLease() refuses", () => {
	interface Row {
		readonly name: string;
		readonly lease: LeaseObject;
		readonly what: string;
	}
	const rows: readonly Row[] = [
		{ name: "no budget", lease: withAnnotation(budgetAnnotation, undefined), what: "is not NAMESPACE/NAME" },
		{ name: "half a budget", lease: withAnnotation(budgetAnnotation, "shop/"), what: "is not NAMESPACE/NAME" },
		{
			name: "a budget of three parts",
			lease: withAnnotation(budgetAnnotation, "a/b/c"),
			what: "is not NAMESPACE/NAME",
		},
		{
			name: "what a watch could not read",
			lease: { ...good, unreadable: "its labels are not all strings" },
			what: `of budget "shop/db": its labels are not all strings. Nothing is granted`,
		},
		{ name: "another budget", lease: withAnnotation(budgetAnnotation, "shop/web"), what: "names another budget" },
		{ name: "no state", lease: withAnnotation(stateAnnotation, undefined), what: "is missing" },
		{ name: "an empty state", lease: withAnnotation(stateAnnotation, ""), what: "is not JSON" },
		{ name: "half a state", lease: withAnnotation(stateAnnotation, '{"schema":1,"non'), what: "is not JSON" },
		{ name: "a state that is null", lease: withAnnotation(stateAnnotation, "null"), what: "is not an object" },
		{ name: "a state that is a text", lease: withAnnotation(stateAnnotation, '"held"'), what: "is not an object" },
		{ name: "a state that is a list", lease: withAnnotation(stateAnnotation, "[]"), what: "is not an object" },
		{ name: "no schema", lease: withState({ schema: undefined }), what: "has schema missing, this version knows 1" },
		{ name: "a newer schema", lease: withState({ schema: 2 }), what: "has schema 2, this version knows 1" },
		{ name: "a schema that is a text", lease: withState({ schema: "1" }), what: 'has schema "1"' },
		{ name: "no nonce", lease: withState({ nonce: undefined }), what: 'has no string "nonce"' },
		{ name: "a nonce that is a number", lease: withState({ nonce: 1 }), what: 'has no string "nonce"' },
		{ name: "no phase", lease: withState({ phase: undefined }), what: 'has no string "phase"' },
		{ name: "an unknown phase", lease: withState({ phase: "paused" }), what: 'has unknown phase "paused"' },
		{ name: "no renewals", lease: withState({ renewals: undefined }), what: 'has no number "renewals"' },
		{ name: "renewals that are a text", lease: withState({ renewals: "3" }), what: 'has no number "renewals"' },
		{ name: "renewals that cannot be counted up", lease: withState({ renewals: 2 ** 60 }), what: 'number "renewals"' },
		{ name: "a nonce that is empty while it is held", lease: withState({ nonce: "" }), what: "held without a nonce" },
		{ name: "half a transition", lease: withTransitions(1.5), what: "its spec.leaseTransitions is 1.5" },
		{ name: "a negative transition", lease: withTransitions(-1), what: "its spec.leaseTransitions is -1" },
		{ name: "more transitions than can be sent", lease: withTransitions(2 ** 31), what: "is 2147483648" },
		{ name: "no observed", lease: withState({ observed: undefined }), what: 'has no string "observed"' },
		{ name: "an observed that is a number", lease: withState({ observed: 9 }), what: 'has no string "observed"' },
		{ name: "an observed that is no version", lease: withState({ observed: "9a" }), what: 'has "observed" "9a"' },
		// Versions are compared by their length first, so "010" would be newer than "99".
		{ name: "an observed with a leading zero", lease: withState({ observed: "09" }), what: 'has "observed" "09"' },
		{ name: "a negative observed", lease: withState({ observed: "-1" }), what: 'has "observed" "-1"' },
		{ name: "no holders", lease: withState({ holders: undefined }), what: 'has no list "holders"' },
		{ name: "holders that are an object", lease: withState({ holders: {} }), what: 'has no list "holders"' },
		{ name: "a holder that is a number", lease: withState({ holders: [7] }), what: "malformed reservation" },
		{ name: "no controllers", lease: withState({ controllers: undefined }), what: 'has no list "controllers"' },
		{ name: "controllers that are a text", lease: withState({ controllers: "db" }), what: 'has no list "controllers"' },
		{ name: "a controller that is no row", lease: withState({ controllers: [{}] }), what: 'row in "controllers"' },
		{ name: "a short controller", lease: withState({ controllers: [["a", "b", "c"]] }), what: 'row in "controllers"' },
		...["apiVersion", "kind", "name", "uid"].flatMap((field, index) => [
			{
				name: `a controller whose ${field} is a number`,
				lease: withState({ controllers: [controllerRow.with(index, 1 as unknown as string)] }),
				what: "malformed controller",
			},
			{
				name: `a controller whose ${field} is empty`,
				lease: withState({ controllers: [controllerRow.with(index, "")] }),
				what: "malformed controller",
			},
		]),
		{ name: "no reservations", lease: withState({ reservations: undefined }), what: 'has no list "reservations"' },
		{
			name: "reservations that are null",
			lease: withState({ reservations: null }),
			what: 'has no list "reservations"',
		},
		{ name: "a reservation that is null", lease: withState({ reservations: [null] }), what: 'row in "reservations"' },
		{ name: "a short reservation", lease: withState({ reservations: [row.slice(1)] }), what: 'row in "reservations"' },
		{ name: "a long reservation", lease: withState({ reservations: [[...row, 0]] }), what: 'row in "reservations"' },
		{ name: "a reservation without an id", lease: withCell(0, ""), what: "malformed reservation" },
		{ name: "a reservation whose id is a number", lease: withCell(0, 1), what: "malformed reservation" },
		{ name: "a reservation without a uid", lease: withCell(1, ""), what: "malformed reservation" },
		{ name: "a reservation whose uid is null", lease: withCell(1, null), what: "malformed reservation" },
		{ name: "a reservation without a name", lease: withCell(2, ""), what: "malformed reservation" },
		{ name: "a reservation whose name is a number", lease: withCell(2, 0), what: "malformed reservation" },
		{ name: "a reservation without a version", lease: withCell(3, ""), what: "malformed reservation" },
		{ name: "a reservation whose version is a number", lease: withCell(3, 100), what: "malformed reservation" },
		{ name: "a reservation whose version is a word", lease: withCell(3, "new"), what: "malformed reservation" },
		{
			name: "a reservation whose version has a leading zero",
			lease: withCell(3, "0100"),
			what: "malformed reservation",
		},
		{ name: "a reservation of a holder that is not listed", lease: withCell(4, 1), what: "malformed reservation" },
		{ name: "a reservation of a negative holder", lease: withCell(4, -1), what: "malformed reservation" },
		{ name: "a reservation whose holder is a text", lease: withCell(4, "drain-7f"), what: "malformed reservation" },
		{ name: "a reservation without a time", lease: withCell(5, null), what: "malformed reservation" },
		{ name: "a reservation from before all time", lease: withCell(5, -1), what: "malformed reservation" },
		{ name: "a reservation of a time that cannot be sent", lease: withCell(5, 1e300), what: "malformed reservation" },
		{ name: "a reservation with an unknown mark", lease: withCell(6, 2), what: "malformed reservation" },
		{ name: "a reservation whose mark is a boolean", lease: withCell(6, true), what: "malformed reservation" },
		{
			name: "a holder beside a released phase",
			lease: withState({ phase: "released" }),
			what: 'its holder and its phase "released" contradict each other',
		},
		{
			name: "a held phase without a holder",
			lease: { ...good, spec: { leaseDurationSeconds: 10 } },
			what: 'its holder and its phase "held" contradict each other',
		},
		{
			name: "a held phase with an empty holder",
			lease: { ...good, spec: { ...good.spec, holderIdentity: "" } },
			what: "contradict each other",
		},
	];
	for (const { name, lease, what } of rows) {
		test(name, () => {
			expect(() => parseLease(lease)).toThrow(GarbledLeaseError);
			expect(() => parseLease(lease)).toThrow(what);
		});
	}

	test("with the Lease, the budget, the cluster and what to do", () => {
		expect(() => parseLease(withState({ schema: 2 }), "eu-1")).toThrow(
			`cannot read Lease "${good.name}" of budget "shop/db" in cluster "eu-1": annotation ${stateAnnotation} has schema 2, ` +
				"this version knows 1. Nothing is granted under this budget until the Lease is deleted, while no drain runs anywhere " +
				"in the fleet: ValidatingAdmissionPolicy xpdb-leases refuses that to every user, so delete its binding first " +
				"(kubectl delete validatingadmissionpolicybinding xpdb-leases), and apply it again afterwards " +
				"(kubectl apply -f agent/deploy/policies.yaml)",
		);
	});
});

describe("parseLease() reads", () => {
	test("the Lease that the rows above are made from", () => {
		expect(parseLease(good)).toMatchObject({ holder: "drain-7f", durationMs: 10_000, transitions: 3 });
	});

	// x-pdb panics on such a Lease.
	test("a Lease without holderIdentity, acquireTime or leaseDurationSeconds does not crash", () => {
		const bare = { ...leaseFields(newLease()), spec: {} };
		expect(parseLease(bare)).toMatchObject({ holder: "", durationMs: 1000, transitions: 0, acquireTime: undefined });
	});

	test("a time that is no time: it is for people only", () => {
		const spec = { ...good.spec, acquireTime: "yesterday" };
		expect(parseLease({ ...good, spec }).acquireTime).toBe("yesterday");
	});

	const durations: readonly { readonly name: string; readonly seconds: number; readonly durationMs: number }[] = [
		{ name: "a duration of 0 as the shortest", seconds: 0, durationMs: 1_000 },
		{ name: "a negative duration as the shortest", seconds: -5, durationMs: 1_000 },
		{
			name: "a duration of a year as the longest: nobody may hold a budget up for so long",
			seconds: 31_536_000,
			durationMs: 10_000,
		},
		{ name: "a handed-over duration as it is", seconds: 2, durationMs: 2_000 },
	];
	for (const { name, seconds, durationMs } of durations) {
		test(name, () => {
			const spec = { ...good.spec, leaseDurationSeconds: seconds };
			expect(parseLease({ ...good, spec }).durationMs).toBe(durationMs);
		});
	}

	test("fields that a later version of this schema may add", () => {
		expect(parseLease(withState({ later: true })).state.nonce).toBe("nonce-1");
	});
});
