// Limits the heap of a watch. By default, V8 lets the heap grow by some 100 MB before it collects twenty minutes of garbage at once.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** After this time, all code is loaded. V8 accepts no cached code after its flags have changed. */
const settleMs = 8_000;
/** How much the heap may grow until the next collection, in percent of its size after a collection. */
const growth = 25;

/** Limits the heap after `settleMs`, unless the returned function is called first. */
export function keepHeapSmall(limit: () => void = limitHeap): () => void {
	const timer = setTimeout(limit, settleMs).unref();
	return () => clearTimeout(timer);
}

/** Collects all garbage once, because V8 computes the next limit at the end of a collection. It takes 40 ms of CPU. */
export function limitHeap(): void {
	setFlagsFromString(`--heap-growing-percent=${growth}`);
	setFlagsFromString("--expose-gc");
	const collect: unknown = runInNewContext("gc");
	if (typeof collect !== "function") throw new Error("V8 has no gc()");
	collect();
}
