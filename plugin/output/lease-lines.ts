// Formats `kubectl xpdb leases`: a row for each Lease and, with -o wide, for each granted pod.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { ListedLease, ListedReservation } from "../../proto/listed-lease.ts";
import { formatElapsed } from "../flags/duration.ts";
import type { LeasesOfContext } from "../fleet/context-leases.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import { accountText } from "./budget-lines.ts";

export type ListedContext = Extract<LeasesOfContext, { kind: "listed" }>;

export interface LeaseRow extends Pick<ListedContext, "context" | "cluster" | "at"> {
	readonly lease: ListedLease;
}

export function leaseRows(lists: readonly ListedContext[]): readonly LeaseRow[] {
	return lists.flatMap(({ context, cluster, at, leases }) => leases.map((lease) => ({ context, cluster, at, lease })));
}

export interface LeaseColumns {
	readonly isWide: boolean;
	readonly hasNamespaces: boolean;
}

/** CLAIMED BY is the holder's own claim. ACCOUNT is verified. */
const leaseColumns: readonly { readonly header: string; readonly only?: keyof LeaseColumns }[] = [
	{ header: "NAMESPACE", only: "hasNamespaces" },
	{ header: "BUDGET" },
	{ header: "CONTEXT" },
	{ header: "CLAIMED BY" },
	{ header: "OPERATION", only: "isWide" },
	{ header: "ACCOUNT", only: "isWide" },
	{ header: "AGE" },
	{ header: "EXPIRES" },
	{ header: "WAITING" },
	{ header: "RESERVED" },
	{ header: "FENCE", only: "isWide" },
	{ header: "LEASE", only: "isWide" },
];

export function leaseHeaders(shown: LeaseColumns): readonly string[] {
	return shownOf(
		leaseColumns.map(({ header }) => header),
		shown,
	);
}

function shownOf(cells: readonly string[], shown: LeaseColumns): readonly string[] {
	return cells.filter((_, index) => {
		const only = leaseColumns[index]?.only;
		return only === undefined || shown[only];
	});
}

/** "-": nothing. "?": unknown. */
export function leaseCells(row: LeaseRow, shown: LeaseColumns): readonly string[] {
	return shownOf(allCells(row), shown);
}

function allCells({ context, lease }: LeaseRow): readonly string[] {
	const { budget, problem, holding, waiting, reserved, transitions, name } = lease;
	const where = [budget?.namespace ?? "?", budget?.name ?? name, context];
	if (problem !== undefined) return [...where, "unreadable", "?", "?", "?", "?", "?", "?", "?", name];
	const { person, operation = "-" } = holding ? readHolder(holding.holder) : { person: "-" };
	return [
		...where,
		person,
		operation,
		holding ? shownAccount(holding.account) : "-",
		holding ? formatElapsed(holding.heldForMs) : "-",
		holding ? expiryText(holding.expiresInMs) : "-",
		waiting === undefined ? "?" : String(waiting),
		String(reserved),
		String(transitions),
		name,
	];
}

export const reservationHeaders: readonly string[] = [
	"NAMESPACE",
	"BUDGET",
	"CONTEXT",
	"POD",
	"STATE",
	"SINCE",
	"UNTIL",
	"CLAIMED BY",
	"OPERATION",
	"ACCOUNT",
];

/** If not all granted pods were reported, the last row counts the others. */
export function reservationCells({ context, at, lease }: LeaseRow): readonly (readonly string[])[] {
	const { budget, reservations, reserved } = lease;
	const where = [budget?.namespace ?? "?", budget?.name ?? "?", context];
	const rows = reservations.map((reservation): readonly string[] => {
		const { person, operation = "-" } = readHolder(reservation.holder);
		return [
			...where,
			reservation.pod,
			stateOf(reservation),
			`${formatElapsed(at - reservation.sinceSeconds * 1_000)} ago`,
			untilText(reservation.untilSeconds * 1_000 - at),
			person,
			operation,
			shownAccount(reservation.account),
		];
	});
	const more = reserved - reservations.length;
	return more > 0 ? [...rows, [...where, `${more} more`]] : rows;
}

/** Returns, for stderr, a problem that users must not miss. */
export function leaseNotes({ context, lease: { budget, name, problem } }: LeaseRow): readonly string[] {
	if (problem === undefined) return [];
	const which = budget ? `the Lease of budget ${formatBudgetName(budget)}` : `Lease ${name}`;
	return [`${context}: ${which} cannot be read: ${problem}`];
}

function stateOf({ cancelling }: ListedReservation): string {
	return cancelling ? "Cancelling" : "Reserved";
}

/** Only the agents that received the holder's call know the account. */
function shownAccount(account: string | undefined): string {
	return account === undefined ? "?" : accountText(account);
}

function expiryText(ms: number): string {
	return ms === 0 ? "expired" : `in ${formatElapsed(ms + 999)}`;
}

function untilText(ms: number): string {
	return ms > 0 ? `in ${formatElapsed(ms + 999)}` : "overdue";
}
