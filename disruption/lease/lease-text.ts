// Writes and reads the annotation with the state of a budget's Lease: everything that has no field in `spec`. It is read strictly, because
// nothing may be granted under a Lease whose state cannot be read (GarbledLeaseError).
import type { GarbledLeaseError } from "../errors.ts";
import type { ControllerReference } from "../budget/pod.ts";
import { quote } from "../quote.ts";
import { isRecord } from "../record.ts";
import { rememberControllers } from "./remembered-controllers.ts";
import type { Reservation } from "./reservation.ts";
import { isResourceVersion } from "../resource-version.ts";
import { isText } from "../text.ts";

export const stateAnnotation = "xpdb.form3.tech/state";

export interface LeaseState {
	readonly nonce: string;
	readonly phase: "held" | "committed" | "released";
	/** Grows by one with each renewal, so a renewal is visible whatever the holder's clock says. */
	readonly renewals: number;
	/** The version that a view must have reached to count. "" requires a consistent list. */
	readonly observed: string;
	readonly reservations: readonly Reservation[];
	/** Each name once, and only controllers of kinds that may have a scale (see remembered-controllers.ts). */
	readonly controllers: readonly ControllerReference[];
}

/**
 * Returns the annotation's text. Reservations are short rows, because a Lease has to hold 1,500 of them.
 *
 * A controller is a row of four texts, as every agent of schema 1 reads and writes it. Agents of two versions run side by side during an
 * update. An older agent could not read a row without the uid, and would lose a new field in its next write. It treats a controller with
 * another uid as gone, so the row has the uid last seen under that name.
 */
export function formatState(state: LeaseState): string {
	const holders = [...new Set(state.reservations.map((reservation) => reservation.holder))];
	return JSON.stringify({
		schema: 1,
		nonce: state.nonce,
		phase: state.phase,
		renewals: state.renewals,
		observed: state.observed,
		controllers: state.controllers.map(({ apiVersion, kind, name, uid }) => [apiVersion, kind, name, uid]),
		holders,
		reservations: state.reservations.map((r) => [
			r.id,
			r.uid,
			r.name,
			r.resourceVersion,
			holders.indexOf(r.holder),
			r.sinceSeconds,
			r.cancelling ? 1 : 0,
		]),
	});
}

export function parseState(text: string, garbled: (what: string) => GarbledLeaseError): LeaseState {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw garbled(`annotation ${stateAnnotation} is not JSON`);
	}
	if (!isRecord(value)) throw garbled(`annotation ${stateAnnotation} is not an object`);
	const state = value;
	if (state["schema"] !== 1) {
		throw garbled(`annotation ${stateAnnotation} has schema ${quote(state["schema"])}, this version knows 1`);
	}
	const string = (field: string): string => {
		const found = state[field];
		if (typeof found !== "string") throw garbled(`${stateAnnotation} has no string "${field}"`);
		return found;
	};
	const rows = (field: string, length: number): readonly (readonly unknown[])[] => {
		const found = state[field];
		if (!Array.isArray(found)) throw garbled(`${stateAnnotation} has no list "${field}"`);
		return found.map((row: unknown) => {
			if (!Array.isArray(row) || row.length !== length)
				throw garbled(`${stateAnnotation} has a malformed row in "${field}"`);
			return row;
		});
	};
	const phase = string("phase");
	if (phase !== "held" && phase !== "committed" && phase !== "released")
		throw garbled(`${stateAnnotation} has unknown phase ${quote(phase)}`);
	const renewals = state["renewals"];
	if (!isWholeNumber(renewals)) throw garbled(`${stateAnnotation} has no number "renewals"`);
	const observed = string("observed");
	if (observed !== "" && !isResourceVersion(observed))
		throw garbled(`${stateAnnotation} has "observed" ${quote(observed)}, which is not a resourceVersion`);
	const holders = state["holders"];
	if (!Array.isArray(holders)) throw garbled(`${stateAnnotation} has no list "holders"`);
	return {
		nonce: string("nonce"),
		phase,
		renewals,
		observed,
		controllers: rememberControllers(
			rows("controllers", 4).map(([apiVersion, kind, name, uid]) => {
				if (!isText(apiVersion) || !isText(kind) || !isText(name) || !isText(uid)) {
					throw garbled(`${stateAnnotation} has a malformed controller`);
				}
				return { apiVersion, kind, name, uid };
			}),
			[],
		),
		reservations: rows("reservations", 7).map(([id, uid, name, resourceVersion, holder, sinceSeconds, cancelling]) => {
			const who: unknown = typeof holder === "number" ? holders[holder] : undefined;
			if (
				!isText(id) ||
				!isText(uid) ||
				!isText(name) ||
				!isText(resourceVersion) ||
				!isResourceVersion(resourceVersion) ||
				typeof who !== "string" ||
				!isWholeNumber(sinceSeconds) ||
				(cancelling !== 0 && cancelling !== 1)
			) {
				throw garbled(`${stateAnnotation} has a malformed reservation`);
			}
			return { id, uid, name, resourceVersion, holder: who, sinceSeconds, cancelling: cancelling === 1 };
		}),
	};
}

/** Whether the value is a whole number from 0 that a JavaScript number represents exactly. */
export function isWholeNumber(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
