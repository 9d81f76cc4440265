// Lists this cluster's Leases for people: from the watch, with what this process knows of holders and waiting callers. Ids of reservations
// and nonces are secrets of the holders, so they are not listed.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError, GarbledLeaseError } from "../../disruption/errors.ts";
import { type BudgetLease, budgetAnnotation, namespaceLabel } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { reservationDeadlineMs } from "../../disruption/lease/reservation.ts";
import type { BudgetScope, ListedLease, ListedReservation } from "../../proto/listed-lease.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { GrantMemory } from "./grant-memory.ts";
import type { HolderAccounts } from "./holder-accounts.ts";
import type { LeaseStore } from "./lease-store.ts";

export interface ListLeasesOptions {
	/** For messages. */
	readonly cluster: string;
	/** Undefined if Leases are not watched. */
	readonly view: Pick<LeaseView, "leases" | "live"> | undefined;
	readonly leases: Pick<LeaseStore, "peek">;
	readonly grants: Pick<GrantMemory, "accountOf">;
	readonly accounts: Pick<HolderAccounts, "find">;
	readonly lineLength: (budget: BudgetName) => number;
}

/** How many reservations of one Lease are listed at most. A Lease may have 1,500. */
const mostReservations = 100;
/** How many reservations one answer lists at most. They take about 2 MiB, and an answer may have 4 MiB. */
const mostInAnswer = 10_000;

/**
 * Lists the Leases in these scopes, or all Leases if there are no scopes. An unreadable Lease is listed with the reason. Throws
 * AgentUnavailableError if the watch on Leases is dead.
 */
export function listLeases(scopes: readonly BudgetScope[], options: ListLeasesOptions): readonly ListedLease[] {
	const { view } = options;
	if (!view?.live) {
		throw new AgentUnavailableError(
			`the agent of cluster "${options.cluster}" does not see its Leases: their watch gives no sign of life`,
			options.cluster,
		);
	}
	let room = mostInAnswer;
	return [...view.leases()]
		.filter((object) => scopes.length === 0 || scopes.some((scope) => isIn(scope, object)))
		.map((object) => {
			const listed = listLease(object, Math.min(room, mostReservations), options);
			room -= listed.reservations.length;
			return listed;
		});
}

function listLease(object: LeaseObject, room: number, options: ListLeasesOptions): ListedLease {
	try {
		return readableLease(options.leases.peek(object), room, options);
	} catch (error) {
		if (!(error instanceof GarbledLeaseError)) throw error;
		const { leaseTransitions = 0 } = object.spec;
		return {
			name: object.name,
			budget: namedBudget(object),
			problem: error.message,
			uid: object.uid,
			// 0 replaces a number that cannot be sent.
			transitions: isSendable(leaseTransitions) ? leaseTransitions : 0,
			holding: undefined,
			waiting: undefined,
			reservations: [],
			reserved: 0,
		};
	}
}

function readableLease(
	{ lease, heldForMs, silentForMs }: ReturnType<LeaseStore["peek"]>,
	room: number,
	{ accounts, grants, lineLength }: ListLeasesOptions,
): ListedLease {
	const { name, uid, budget, transitions, holder, state, durationMs } = lease;
	const account = accounts.find(state.nonce);
	return {
		name,
		budget,
		uid,
		transitions,
		holding:
			holder === ""
				? undefined
				: {
						holder,
						...(account !== undefined && { account }),
						heldForMs,
						expiresInMs: Math.max(durationMs - silentForMs, 0),
					},
		waiting: lineLength(budget),
		reservations: oldestFirst(lease)
			.slice(0, room)
			.map((reservation): ListedReservation => {
				const { name: pod, uid: podUid, sinceSeconds, cancelling } = reservation;
				const granted = grants.accountOf(reservation);
				return {
					pod,
					uid: podUid,
					holder: reservation.holder,
					...(granted !== undefined && { account: granted }),
					sinceSeconds,
					untilSeconds: sinceSeconds + reservationDeadlineMs / 1_000,
					cancelling,
				};
			}),
		reserved: state.reservations.length,
	};
}

function oldestFirst({ state }: BudgetLease): BudgetLease["state"]["reservations"] {
	return state.reservations.toSorted((a, b) => a.sinceSeconds - b.sinceSeconds);
}

function isIn({ namespace, name }: BudgetScope, object: LeaseObject): boolean {
	// A Lease without a readable budget is listed under the namespace in its label, which the agents wrote.
	const budget = namedBudget(object);
	if ((budget?.namespace ?? object.labels[namespaceLabel]) !== namespace) return false;
	return name === undefined || budget?.name === name;
}

function namedBudget({ annotations }: LeaseObject): BudgetName | undefined {
	const [namespace, name, ...rest] = (annotations[budgetAnnotation] ?? "").split("/");
	return namespace && name && rest.length === 0 ? { namespace, name } : undefined;
}

function isSendable(value: number): boolean {
	return Number.isInteger(value) && value >= 0 && value < 2 ** 31;
}
