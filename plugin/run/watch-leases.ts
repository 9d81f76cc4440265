// Polls the Leases of one context and reports changes. It continues after failures, and reconnects if the connection was never made.
import type { BudgetScope, ListedLease } from "../../proto/listed-lease.ts";
import { type LeaseSource, type LeasesOfContext, readLeases } from "../fleet/context-leases.ts";
import { type LeaseRow, leaseRows } from "../output/lease-lines.ts";

/** Leases are normally held for a few round trips. A watch is for Leases that stay held. */
const askEveryMs = 1_000;
/** Reconnecting costs a port-forward and a token. */
const openAgainMs = 5_000;

export interface LeaseChanges {
	readonly changed: readonly LeaseRow[];
	readonly gone: readonly LeaseRow[];
	/** Why the Leases of a context cannot be read, once for each new reason. */
	readonly problem?: string;
	/** The context, if its Leases can be read again. */
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

/** Continues from `first` until `stop` aborts. Closes `source` and everything that it opens. */
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

/** A shorter remaining time is not a change, but an expiry is. */
function isSame(a: ListedLease | undefined, b: ListedLease): boolean {
	return a !== undefined && withoutTimes(a) === withoutTimes(b);
}

function withoutTimes({ holding, ...lease }: ListedLease): string {
	const { holder = "", account = "" } = holding ?? {};
	return JSON.stringify({ ...lease, held: holding && { holder, account, isOver: holding.expiresInMs === 0 } });
}
