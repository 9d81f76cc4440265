import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentProtocolError } from "../../disruption/errors.ts";
import {
	acquired,
	acquisitionOf,
	annotationsOf,
	type BudgetLease,
	budgetAnnotation,
	committed,
	fits,
	isLatest,
	leaseDurationMs,
	leaseName,
	marked,
	maxAnnotationBytes,
	parseLease,
	released,
	renewed,
	stands,
	withObserved,
	withoutControllers,
	withoutReservations,
} from "../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../disruption/lease/lease-text.ts";
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import { rememberControllers } from "../../disruption/lease/remembered-controllers.ts";
import { budget } from "../support/build-count.ts";
import { leaseFields, newController, newGrant, newLease, newReservation } from "../support/build-lease.ts";

const by = { holder: "drain-7f", nonce: "nonce-1", durationMs: leaseDurationMs };
const held = () => acquired(newLease(), by);

describe("leaseName()", () => {
	test("is one name for one budget, and another one for another", () => {
		const names = [budget, { namespace: "shop", name: "web" }, { namespace: "bank", name: "db" }].map(leaseName);
		expect(new Set(names).size).toBe(3);
		expect(leaseName({ ...budget })).toBe(names[0]);
	});

	test("is a valid object name for the longest budget name", () => {
		expect(leaseName({ namespace: "n".repeat(63), name: "b".repeat(253) })).toMatch(/^[a-z][-a-z0-9]{0,62}$/);
	});
});

describe("an acquisition", () => {
	test("is a new one each time, with what is reserved left in place", () => {
		const before = newLease({ transitions: 4, state: { observed: "9", reservations: [newReservation("db-0")] } });
		const lease = acquired(before, by);
		expect(lease).toMatchObject({ holder: "drain-7f", durationMs: 10_000, transitions: 5, acquireTime: undefined });
		expect(lease.state).toEqual({ ...before.state, nonce: "nonce-1", phase: "held" });
	});

	test("is needed with a holder and a nonce", () => {
		for (const missing of [{ holder: "" }, { nonce: "" }]) {
			expect(() => acquired(newLease(), { ...by, ...missing })).toThrow(AgentProtocolError);
		}
	});

	const lease = held();
	const acquisition = acquisitionOf(lease);
	const rows: readonly {
		readonly name: string;
		readonly now: BudgetLease;
		readonly stands: boolean;
		readonly latest: boolean;
	}[] = [
		{ name: "stands after it was written", now: lease, stands: true, latest: true },
		{ name: "stands after a renewal", now: renewed(lease), stands: true, latest: true },
		{ name: "stands after reservations have ended", now: withObserved(lease, "9"), stands: true, latest: true },
		{ name: "is over after a release", now: released(lease), stands: false, latest: true },
		{ name: "is over after a commit", now: committed(lease, [], 0), stands: false, latest: true },
		{
			name: "is over where another one took the Lease",
			now: acquired(lease, { ...by, nonce: "nonce-2" }),
			stands: false,
			latest: false,
		},
		{
			// A late duplicate of the first acquire.
			name: "is not revived by an acquire with its own nonce",
			now: acquired(released(lease), by),
			stands: false,
			latest: false,
		},
		{ name: "is not that of a Lease made anew", now: { ...lease, uid: "another" }, stands: false, latest: false },
	];
	for (const { name, now, ...expected } of rows) {
		test(name, () => {
			expect({ stands: stands(now, acquisition), latest: isLatest(now, acquisition) }).toEqual(expected);
		});
	}
});

describe("the steps of a Lease", () => {
	const two = newLease({ state: { observed: "9", reservations: [newReservation("db-0"), newReservation("db-1")] } });

	test("a renewal is seen as one, and gives the full lease time", () => {
		const handedOver = acquired(newLease(), { ...by, durationMs: 2_000 });
		expect(renewed(renewed(handedOver))).toMatchObject({ durationMs: leaseDurationMs, state: { renewals: 2 } });
		expect(acquired(renewed(handedOver), by).state.renewals).toBe(0);
	});

	test("a release names no holder, as in client-go", () => {
		expect(released(held())).toMatchObject({
			holder: "",
			durationMs: 1000,
			state: { phase: "released", nonce: "nonce-1" },
		});
	});

	test("a commit reserves and releases in one", () => {
		const lease = committed(held(), [newGrant("db-0", { controller: newController("db") })], 12);
		expect(lease).toMatchObject({ holder: "", durationMs: 1000 });
		expect(lease.state).toMatchObject({
			phase: "committed",
			nonce: "nonce-1",
			reservations: [newReservation("db-0", { sinceSeconds: 12 })],
			controllers: [newController("db")],
		});
	});

	test("a commit keeps the reservations and controllers of earlier ones", () => {
		const first = committed(held(), [newGrant("db-0", { controller: newController("db") })], 1);
		const second = committed(acquired(first, by), [newGrant("web-0", { controller: newController("web") })], 2);
		expect(second.state.reservations.map(({ name }) => name)).toEqual(["db-0", "web-0"]);
		expect(second.state.controllers.map(({ name }) => name)).toEqual(["db", "web"]);
	});

	test("a commit that grants nothing says committed too", () => {
		expect(committed(held(), [], 1).state).toMatchObject({ phase: "committed", reservations: [] });
	});

	const bad: readonly { readonly name: string; readonly grant: Parameters<typeof newGrant>[1] }[] = [
		{ name: "without an id", grant: { id: "" } },
		{ name: "of a pod without a uid", grant: { pod: { namespace: "shop", name: "db-0", uid: "" } } },
		{ name: "of a pod without a name", grant: { pod: { namespace: "shop", name: "", uid: "u" } } },
		{ name: "with a version that cannot be ordered", grant: { resourceVersion: "007" } },
		{ name: "without a version", grant: { resourceVersion: "" } },
		{ name: "of a pod in another namespace", grant: { pod: { namespace: "bank", name: "db-0", uid: "u" } } },
	];
	for (const { name, grant } of bad) {
		test(`a commit writes no reservation ${name}`, () => {
			expect(() => committed(held(), [newGrant("db-0", grant)], 1)).toThrow(AgentProtocolError);
		});
	}

	test("a reservation ends by its id, and the evidence stays", () => {
		const lease = withoutReservations(two, new Set(["id-db-0"]), "12");
		expect(lease.state).toMatchObject({ observed: "12", reservations: [{ name: "db-1" }] });
	});

	test("observed never goes back", () => {
		expect(withoutReservations(two, new Set(["id-db-0"]), "8").state.observed).toBe("9");
		expect(withoutReservations(two, new Set(["id-db-0"])).state.observed).toBe("9");
		expect(withObserved(two, "10").state.observed).toBe("10");
	});

	test("the controllers outlive the reservations", () => {
		const lease = committed(held(), [newGrant("db-0", { controller: newController("db") })], 1);
		const after = withoutReservations(lease, new Set(["id-db-0"]));
		expect(after.state.controllers).toEqual([newController("db")]);
		expect(withoutControllers(after, new Set(["apps/StatefulSet/db"])).state.controllers).toEqual([]);
	});

	test("a mark is for the ids that it names", () => {
		const cancelling = marked(two, new Set(["id-db-1", "nobody"])).state.reservations.map((each) => each.cancelling);
		expect(cancelling).toEqual([false, true]);
	});

	test("no step changes the Lease it was given", () => {
		const lease = acquired(two, by);
		const before = structuredClone(lease);
		renewed(lease);
		released(lease);
		committed(lease, [newGrant("db-2")], 1);
		marked(lease, new Set(["id-db-0"]));
		withoutReservations(lease, new Set(["id-db-0"]), "99");
		withoutControllers(lease, new Set(["u"]));
		expect(lease).toEqual(before);
	});
});

describe("the annotations of a Lease", () => {
	const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
	const version = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String);
	const reservation = fc.record({
		id: text,
		uid: text,
		name: text,
		resourceVersion: version,
		holder: text,
		sinceSeconds: fc.nat(),
		cancelling: fc.boolean(),
	});
	const controller = fc.record({ apiVersion: text, kind: text, name: text, uid: text });
	const state = fc.record({
		nonce: fc.string(),
		phase: fc.constantFrom("committed" as const, "released" as const),
		renewals: fc.nat(),
		observed: fc.oneof(fc.constant(""), version),
		reservations: fc.array(reservation, { maxLength: 6 }),
		controllers: fc.array(controller, { maxLength: 3 }).map((controllers) => rememberControllers(controllers, [])),
	});

	test("come back as the state that was written", () => {
		fc.assert(
			fc.property(state, (written) => {
				const fields = leaseFields(newLease({ state: written }));
				const read = parseLease({ ...fields, annotations: JSON.parse(JSON.stringify(fields.annotations)) });
				expect(read.state).toEqual(written);
			}),
		);
	});

	test("are those that an agent writes which remembers controllers by uid, and Jobs among them", () => {
		const row = ({ apiVersion, kind, name, uid }: ControllerReference) => [apiVersion, kind, name, uid];
		const db = newController("db");
		const fields = leaseFields(newLease({ state: { controllers: [db] } }));
		const state = JSON.parse(fields.annotations[stateAnnotation] ?? "{}");
		expect(state).toMatchObject({ schema: 1, controllers: [row(db)] });
		const next = newController("db", { uid: "uid-of-the-next-one" });
		const job = newController("import", { apiVersion: "batch/v1", kind: "Job" });
		const written = JSON.stringify({ ...state, controllers: [db, job, next].map(row) });
		const read = parseLease({ ...fields, annotations: { ...fields.annotations, [stateAnnotation]: written } });
		expect(read.state.controllers).toEqual([next]);
	});

	test("come back with the holder of a held Lease", () => {
		fc.assert(
			fc.property(state, text, text, (written, holder, nonce) => {
				const lease = acquired(newLease({ state: written }), { holder, nonce, durationMs: 2_000 });
				const read = parseLease(leaseFields(lease));
				expect(read).toMatchObject({ holder, durationMs: 2_000, transitions: 1 });
				expect(stands(read, acquisitionOf(lease))).toBe(true);
			}),
		);
	});

	test("keep what others wrote, and not what they wrote in our place", () => {
		const lease = newLease({ annotations: { "example.com/note": "hands off", [stateAnnotation]: "old" } });
		expect(annotationsOf(lease)).toMatchObject({ "example.com/note": "hands off", [budgetAnnotation]: "shop/db" });
		expect(parseLease(leaseFields(lease)).state).toEqual(lease.state);
	});
});

describe("the size of a Lease", () => {
	/** A large reservation: a pod name of 63 characters, a long version, and as ID a UUID or 128 bits in base64url. */
	const longest = (index: number, idLength: number) => {
		const number = String(index).padStart(5, "0");
		return newReservation(`db-${number}`.padEnd(63, "x"), {
			id: number.padStart(idLength, "i"),
			uid: `7c1e9a44-0000-4000-8000-0000000${number}`,
			resourceVersion: "9999999999",
		});
	};
	const withReservations = (count: number, idLength: number, annotations: Record<string, string> = {}) =>
		newLease({
			annotations,
			state: { reservations: Array.from({ length: count }, (_, index) => longest(index, idLength)) },
		});

	test("1,500 reservations of pods with long names fit, and 20 KiB of other annotations", () => {
		expect(fits(withReservations(1_500, 22, { "example.com/note": "x".repeat(20 * 1024) }))).toBe(true);
	});

	test("1,500 reservations fit with UUIDs as ids", () => expect(fits(withReservations(1_500, 36))).toBe(true));

	test("what others wrote counts too", () => {
		const free = maxAnnotationBytes - bytesOf(newLease());
		const note = (length: number) => newLease({ annotations: { n: "x".repeat(length) } });
		expect(fits(note(free - 1))).toBe(true);
		expect(fits(note(free))).toBe(false);
	});

	test("is counted in bytes, as the API server does, and not in characters", () => {
		const free = maxAnnotationBytes - bytesOf(newLease());
		expect(fits(newLease({ annotations: { n: "é".repeat(free / 2 + 1) } }))).toBe(false);
	});

	test("2,000 are too many, and it says so", () => expect(fits(withReservations(2_000, 22))).toBe(false));
});

function bytesOf(lease: BudgetLease): number {
	return Object.entries(annotationsOf(lease)).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0);
}
