// Limits the heap of a watch, which needs no more memory after hours than after a minute. V8 first collects the heap after it has grown by
// some 100 MB. With changing rows, that is twenty minutes of garbage, collected all at once. After limitHeap(), V8 collects whenever the
// heap has grown by a quarter.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By then, the first rows are shown and all code is loaded. V8 no longer accepts cached code after its flags have changed. */
const settleMs = 8_000;
/** In percent of what is left after a collection. */
const growth = 25;

/** Limits the heap after `settleMs`. Returns a function that cancels this. */
export function keepHeapSmall(limit: () => void = limitHeap): () => void {
	const timer = setTimeout(limit, settleMs).unref();
	return () => clearTimeout(timer);
}

/** Collects all garbage once, because V8 sets the heap's next limit at the end of a collection. It takes 40 ms of processor time. */
export function limitHeap(): void {
	setFlagsFromString(`--heap-growing-percent=${growth}`);
	setFlagsFromString("--expose-gc");
	const collect: unknown = runInNewContext("gc");
	if (typeof collect !== "function") throw new Error("V8 has no gc()");
	collect();
}
