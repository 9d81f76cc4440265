// What changes of the Leases, for as long as somebody watches. Each context is asked by itself, again and again: one that hangs holds
// nobody else up, and one that comes back is gone on with.
import type { BudgetScope, ListedLease } from "../../proto/listed-lease.ts";
import { type LeaseSource, type LeasesOfContext, readLeases } from "../fleet/context-leases.ts";
import { type LeaseRow, leaseRows } from "../output/lease-lines.ts";

/** A holding lasts for a few round trips, or for as long as somebody is stuck: who watches wants to see the second kind. */
const askEveryMs = 1_000;
/** A way that broke is a port-forward and a token. */
const openAgainMs = 5_000;

export interface LeaseChanges {
	/** New, or not as before. */
	readonly changed: readonly LeaseRow[];
	/** As they were last. */
	readonly gone: readonly LeaseRow[];
	/** Why a context gives no answer, where that is new. */
	readonly problem?: string;
	/** The context, where its agents answer again. */
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

/** Goes on from what was found first, until `stop`. Closes what it opens, and `source`. */
export async function watchLeases(
	source: LeaseSource,
	first: LeasesOfContext,
	{ scopes, open, onChanges, now, pause, stop }: WatchLeasesOptions,
): Promise<void> {
	let current = source;
	let known = knownOf(first);
	let told = first.kind === "failed" ? first.problem : undefined;
	for (;;) {
		await pause(current.kind === "reached" ? askEveryMs : openAgainMs, stop);
		if (stop.aborted) break;
		if (current.kind !== "reached") current = await open();
		const found = await readLeases(current, scopes, now);
		if (stop.aborted) break;
		if (found.kind === "failed") {
			if (found.problem !== told) onChanges({ changed: [], gone: [], problem: `${found.context}: ${found.problem}` });
			told = found.problem;
			continue;
		}
		const isBack = told !== undefined && found.kind === "listed";
		told = undefined;
		// What went while nobody looked is gone all the same.
		const next = knownOf(found);
		const changed = [...next].filter(([key, row]) => !isSame(known.get(key)?.lease, row.lease)).map(([, row]) => row);
		const gone = [...known].filter(([key]) => !next.has(key)).map(([, row]) => row);
		if (isBack || changed.length > 0 || gone.length > 0) {
			onChanges({ changed, gone, ...(isBack && { recovered: found.context }) });
		}
		known = next;
	}
	if (current.kind === "reached") current.close();
}

function knownOf(found: LeasesOfContext): ReadonlyMap<string, LeaseRow> {
	return new Map((found.kind === "listed" ? leaseRows([found]) : []).map((row) => [row.lease.uid, row]));
}

/** Time passes, and is no change; that it is over is one. */
function isSame(a: ListedLease | undefined, b: ListedLease): boolean {
	return a !== undefined && withoutTimes(a) === withoutTimes(b);
}

function withoutTimes({ holding, ...lease }: ListedLease): string {
	const { holder = "", account = "" } = holding ?? {};
	return JSON.stringify({ ...lease, held: holding && { holder, account, isOver: holding.expiresInMs === 0 } });
}
