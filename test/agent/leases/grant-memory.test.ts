import { describe, expect, test } from "vitest";
import { GrantMemory } from "../../../agent/leases/grant-memory.ts";
import type { Reservation } from "../../../disruption/lease/reservation.ts";
import { newLease, newReservation } from "../../support/build-lease.ts";
import { newPod } from "../../support/build-pod.ts";

const pod = newPod("db-0");
const reservation = newReservation("db-0", { uid: pod.uid, sinceSeconds: 1_000 });
const going = (sinceSeconds: number) =>
	newPod("db-0", { terminating: true, status: { state: "Terminating", sinceSeconds } });

function remember(...reservations: readonly Reservation[]): GrantMemory {
	const memory = new GrantMemory();
	memory.saw(newLease({ state: { reservations } }));
	return memory;
}

describe("GrantMemory", () => {
	test("knows who evicted a pod after its reservation has ended", () => {
		const memory = remember(reservation);
		memory.saw(newLease({ state: { reservations: [] } }));
		expect(memory.find(going(1_002), undefined)).toMatchObject({ holder: reservation.holder, sinceSeconds: 1_000 });
	});

	test("knows the account of a reservation that was written here", () => {
		const memory = remember(reservation);
		memory.committed(new Set([reservation.id]), "system:serviceaccount:xpdb-system:team-a");
		memory.saw(newLease({ state: { reservations: [reservation] } }));
		const account = "system:serviceaccount:xpdb-system:team-a";
		expect(memory.find(pod, reservation)).toMatchObject({ holder: reservation.holder, account });
		expect(memory.find(going(1_002), undefined)).toMatchObject({ account });
		expect(memory.find(pod, { ...reservation, id: "of another" })).not.toHaveProperty("account");
	});

	test("blames nobody for a pod that went long after it was granted, or did not go", () => {
		const memory = remember(reservation);
		expect(memory.find(going(1_061), undefined)).toBeUndefined();
		expect(memory.find(newPod("db-0", { ready: false }), undefined)).toBeUndefined();
		expect(memory.find(newPod("db-0", { terminating: true }), undefined)).toBeUndefined();
	});

	test("blames nobody whose reservation was given back, or is being cancelled", () => {
		const given = remember(reservation);
		given.forget(new Set([reservation.id]));
		const cancelled = remember(reservation);
		cancelled.saw(newLease({ state: { reservations: [{ ...reservation, cancelling: true }] } }));
		for (const memory of [given, cancelled]) expect(memory.find(going(1_002), undefined)).toBeUndefined();
	});

	test("says of a reservation that it does not know what the Lease says", () => {
		expect(new GrantMemory().find(pod, reservation)).toBe(reservation);
	});

	test("forgets the oldest of two thousand", () => {
		const many = Array.from({ length: 2_001 }, (_, index) =>
			newReservation(`web-${index}`, { uid: `u-${index}`, sinceSeconds: 1_000 }),
		);
		const memory = remember(...many);
		expect(memory.find({ ...going(1_002), uid: "u-0" }, undefined)).toBeUndefined();
		expect(memory.find({ ...going(1_002), uid: "u-1" }, undefined)).toBeDefined();
	});
});
