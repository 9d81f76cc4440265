// Reads Leases without the code under test, for the judge, the scenarios and the histories.
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { SimulatedApiServer } from "./simulated-api.ts";

interface State extends StateText {
	/** Computed on first use, because most Leases are read for something else. */
	standing?: readonly StandingReservation[];
	signOfLife?: string;
}

interface StateText {
	readonly nonce: string;
	readonly phase: string;
	readonly observed: string;
	readonly renewals: number;
	readonly holders: readonly string[];
	readonly reservations: readonly (readonly [
		id: string,
		uid: string,
		name: string,
		version: string,
		holder: number,
		...rest: unknown[],
	])[];
}

export interface StandingReservation {
	readonly budget: string;
	readonly id: string;
	readonly uid: string;
	readonly pod: string;
	readonly holder: string;
	readonly cancelling: boolean;
}

export function reservationsIn(server: SimulatedApiServer): readonly StandingReservation[] {
	const found: StandingReservation[] = [];
	for (const lease of server.leases.values()) found.push(...standingIn(lease));
	return found;
}

export function hasReservations(server: SimulatedApiServer): boolean {
	for (const lease of server.leases.values()) if (stateOf(lease).reservations.length > 0) return true;
	return false;
}

/** Returns how many reservations have ended, counted once for each Lease that held them. */
export function endedReservations(server: SimulatedApiServer): number {
	const ever = new Set<string>();
	for (const { object } of server.leaseEvents) {
		for (const [id] of stateOf(object).reservations) ever.add(`${object.name} ${id}`);
	}
	return ever.size - reservationsIn(server).length;
}

export function nonceOf(lease: LeaseObject): string {
	return stateOf(lease).nonce;
}

export function isCommitted(lease: LeaseObject): boolean {
	return stateOf(lease).phase === "committed";
}

/** Returns a text that changes with every acquisition and with every renewal of it. */
export function signOfLifeOf(lease: LeaseObject): string {
	const state = stateOf(lease);
	return (state.signOfLife ??= `${lease.uid} ${lease.spec.leaseTransitions} ${state.nonce} ${state.renewals}`);
}

/** Describes a Lease, for example "held by drain-1 (acquisition 7), observed 99, reserved: web-0 as drain-1.3, version 104". */
export function leaseText(lease: LeaseObject): string {
	const { phase, observed, reservations } = stateOf(lease);
	const { holderIdentity, leaseTransitions } = lease.spec;
	const held = holderIdentity ? `held by ${holderIdentity}` : phase;
	const reserved = reservations.map((row) => `${row[2]} as ${row[0]}${row[6] === 1 ? " (cancelling)" : ""}`);
	return (
		`${held} (acquisition ${leaseTransitions ?? 0}), observed ${observed || "nothing"}, ` +
		`reserved: ${reserved.join(", ") || "nothing"}, version ${lease.resourceVersion}`
	);
}

function budgetOf({ annotations }: LeaseObject): string {
	return annotations["xpdb.form3.tech/budget"]?.split("/")[1] ?? "";
}

/** Lease objects never change here, so each is parsed once. */
const states = new WeakMap<LeaseObject, State>();

function stateOf(lease: LeaseObject): State {
	let state = states.get(lease);
	// The Lease of known members has no state.
	if (!state) {
		state = JSON.parse(lease.annotations["xpdb.form3.tech/state"] ?? '{"reservations":[]}') as State;
		states.set(lease, state);
	}
	return state;
}

function standingIn(lease: LeaseObject): readonly StandingReservation[] {
	const state = stateOf(lease);
	return (state.standing ??= state.reservations.map((row) => ({
		budget: budgetOf(lease),
		id: row[0],
		uid: row[1],
		pod: row[2],
		holder: state.holders[row[4]] ?? "",
		cancelling: row[6] === 1,
	})));
}
