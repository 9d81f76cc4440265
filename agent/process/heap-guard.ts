// Warns when the heap is nearly full, and ends the agent with a message before V8 would end it without one.
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import type { PeriodicJob } from "./periodic-work.ts";

/** Bytes. */
export interface HeapUse {
	readonly used: number;
	readonly limit: number;
}

interface HeapGuardOptions {
	readonly read: () => HeapUse;
	/** Collects all garbage. Undefined without Node's --expose-gc: what is used cannot be told from garbage then. */
	readonly collect: (() => void) | undefined;
	/** Monotonic, in milliseconds. */
	readonly now: () => number;
	readonly warn: (heap: HeapUse) => void;
	readonly end: (heap: HeapUse) => void;
}

const lookEveryMs = 1_000;
/** How often from `warnFrom` on. A view that is being loaded grows by 3 MB a second. */
const lookCloselyEveryMs = 200;
const warnFrom = 0.8;
/** V8 ends the process when it cannot free enough, some time after this. */
const endFrom = 0.92;
/** From here on, the heap may be full before the next pause is over. */
const lastMomentFrom = 0.97;
/**
 * A heap that stays above `warnFrom` is collected this often, and never more than a tenth of the time. A collection stops the agent: for
 * 0.1 s with the shipped memory, and for longer with more.
 */
const collectEveryMs = 10_000;
const warnEveryMs = 600_000;

/** The young generation with --max-semi-space-size=1 (agent/deploy/deployment.yaml), which V8 adds to the limit of the old one. */
const youngBytes = 3 * 2 ** 20;
const notOld: ReadonlySet<string> = new Set(["new_space", "new_large_object_space", "read_only_space"]);

/** Returns the size and the limit of the old generation, whose pages V8 counts, however full they are. */
export function readHeapUse(): HeapUse {
	const old = getHeapSpaceStatistics().filter(({ space_name }) => !notOld.has(space_name));
	const used = old.reduce((sum, { space_size }) => sum + space_size, 0);
	return { used, limit: getHeapStatistics().heap_size_limit - youngBytes };
}

export function heapGuard({ read, collect, now, warn, end }: HeapGuardOptions): PeriodicJob {
	let share = 0;
	let collectedAt = Number.NEGATIVE_INFINITY;
	let tookMs = 0;
	const isTooSoon = (): boolean => {
		if (share >= lastMomentFrom) return false;
		const pauseMs = share < endFrom ? collectEveryMs : lookEveryMs;
		return now() - collectedAt < Math.max(pauseMs, 10 * tookMs);
	};
	let warnedAt = Number.NEGATIVE_INFINITY;
	return {
		pauseMs: () => (share < warnFrom ? lookEveryMs : lookCloselyEveryMs),
		pass() {
			if (!collect) return "done";
			share = shareOf(read());
			if (share < warnFrom || isTooSoon()) return undefined;
			const startedAt = now();
			collect();
			collectedAt = now();
			tookMs = collectedAt - startedAt;
			const heap = read();
			if (shareOf(heap) >= endFrom) {
				end(heap);
				return "done";
			}
			if (shareOf(heap) >= warnFrom && now() - warnedAt >= warnEveryMs) {
				warnedAt = now();
				warn(heap);
			}
			return undefined;
		},
	};
}

function shareOf({ used, limit }: HeapUse): number {
	return used / limit;
}
