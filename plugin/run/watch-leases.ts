// Watches changes of the Leases. Each context is polled separately, so that one that hangs does not delay the others. A context that
// answers again is resumed.
import type { BudgetScope, ListedLease } from "../../proto/listed-lease.ts";
import { type LeaseSource, type LeasesOfContext, readLeases } from "../fleet/context-leases.ts";
import { type LeaseRow, leaseRows } from "../output/lease-lines.ts";

/** A Lease is held for a few round trips, or for as long as its holder is stuck. A watch is for the second case. */
const askEveryMs = 1_000;
/** Reconnecting costs a port-forward and a token. */
const openAgainMs = 5_000;

export interface LeaseChanges {
	/** Leases that are new or changed. */
	readonly changed: readonly LeaseRow[];
	/** Leases that are gone, as they last were. */
	readonly gone: readonly LeaseRow[];
	/** Why a context does not answer, reported once for each new reason. */
	readonly problem?: string;
	/** The context, when its agents answer again. */
	readonly recovered?: string;
}

interface WatchLeasesOptions {
	readonly scopes: readonly BudgetScope[];
	readonly open: () => Promise<LeaseSource>;
	readonly onChanges: (changes: LeaseChanges) => void;
	readonly now: () => number;
	readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
	readonly stop: AbortSignal;
}

/** Continues from the first result until `stop` aborts. Closes `source` and everything that it opens. */
export async function watchLeases(
	source: LeaseSource,
	first: LeasesOfContext,
	{ scopes, open, onChanges, now, pause, stop }: WatchLeasesOptions,
): Promise<void> {
	let current = source;
	let known = knownOf(first);
	let told = first.kind === "failed" ? first.problem : undefined;
	try {
		for (;;) {
			await pause(current.kind === "reached" ? askEveryMs : openAgainMs, stop);
			if (stop.aborted) return;
			if (current.kind !== "reached") current = await open();
			const found = await readLeases(current, scopes, now);
			if (stop.aborted) return;
			if (found.kind === "failed") {
				if (found.problem !== told) onChanges({ changed: [], gone: [], problem: `${found.context}: ${found.problem}` });
				told = found.problem;
				continue;
			}
			const isBack = told !== undefined && found.kind === "listed";
			told = undefined;
			// A Lease that disappeared during an outage is reported as gone, too.
			const next = knownOf(found);
			const changed = [...next].filter(([key, row]) => !isSame(known.get(key)?.lease, row.lease)).map(([, row]) => row);
			const gone = [...known].filter(([key]) => !next.has(key)).map(([, row]) => row);
			if (isBack || changed.length > 0 || gone.length > 0) {
				onChanges({ changed, gone, ...(isBack && { recovered: found.context }) });
			}
			known = next;
		}
	} finally {
		if (current.kind === "reached") current.close();
	}
}

function knownOf(found: LeasesOfContext): ReadonlyMap<string, LeaseRow> {
	return new Map((found.kind === "listed" ? leaseRows([found]) : []).map((row) => [row.lease.uid, row]));
}

/** Whether the Lease is unchanged. The remaining time alone is not a change, but reaching its end is. */
function isSame(a: ListedLease | undefined, b: ListedLease): boolean {
	return a !== undefined && withoutTimes(a) === withoutTimes(b);
}

function withoutTimes({ holding, ...lease }: ListedLease): string {
	const { holder = "", account = "" } = holding ?? {};
	return JSON.stringify({ ...lease, held: holding && { holder, account, isOver: holding.expiresInMs === 0 } });
}
