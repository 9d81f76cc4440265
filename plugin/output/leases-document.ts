// Builds the document of `kubectl xpdb leases -o json` (schemas/leases-v1.json).
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { ListedReservation } from "../../proto/listed-lease.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import type { LeaseRow } from "./lease-lines.ts";

export const leasesSchema = "xpdb.leases/1.0";

export function leasesDocument(rows: readonly LeaseRow[], problems: readonly string[]): object {
	return { schema: leasesSchema, items: rows.map(leaseItem), problems };
}

export function leasesChange(
	rows: readonly LeaseRow[],
	{
		gone,
		problems,
		recovered,
	}: {
		readonly gone: readonly LeaseRow[];
		readonly problems: readonly string[];
		readonly recovered?: string | undefined;
	},
): object {
	const items = [...rows.map(leaseItem), ...gone.map((row) => ({ ...leaseItem(row), deleted: true }))];
	return { schema: leasesSchema, items, problems, ...(recovered !== undefined && { recovered }) };
}

function leaseItem({ context, cluster, at, lease }: LeaseRow): object {
	const { name, budget, problem, uid, transitions, holding, waiting, reservations, reserved } = lease;
	return {
		context,
		cluster,
		...(budget && { budget: formatBudgetName(budget) }),
		lease: name,
		uid,
		fence: transitions,
		...(holding && {
			holding: {
				holder: holding.holder,
				...readHolder(holding.holder),
				...(holding.account !== undefined && { account: holding.account }),
				since: new Date(at - holding.heldForMs).toISOString(),
				expires: new Date(at + holding.expiresInMs).toISOString(),
			},
		}),
		...(waiting !== undefined && { waiting }),
		reserved,
		reservations: reservations.map((reservation) => reservationItem(reservation, budget?.namespace ?? "?")),
		...(problem !== undefined && { problem }),
	};
}

function reservationItem(reservation: ListedReservation, namespace: string): object {
	const { pod, uid, holder, account, sinceSeconds, untilSeconds, cancelling } = reservation;
	return {
		pod: `${namespace}/${pod}`,
		uid,
		holder,
		...readHolder(holder),
		...(account !== undefined && { account }),
		...date("since", sinceSeconds),
		...date("until", untilSeconds),
		cancelling,
	};
}

/** Another machine wrote the time, so it may not be a valid date. */
function date(key: string, seconds: number): object {
	const time = new Date(seconds * 1_000);
	return Number.isFinite(time.getTime()) ? { [key]: time.toISOString() } : {};
}
