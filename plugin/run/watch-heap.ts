// What a watch holds after hours is what it held after a minute. A heap is collected for the first time when it has grown by some 100 MB:
// of rows that change that is twenty minutes of garbage, and then all of it at once. From here on a quarter is enough.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The first rows are there, and whatever a start loads has been loaded: V8 takes no compiled code any more when its flags are others. */
const settleMs = 8_000;
/** In percent of what is left after a collection. */
const growth = 25;

/** Returns the function that ends the wait. */
export function keepHeapSmall(limit: () => void = limitHeap): () => void {
	const timer = setTimeout(limit, settleMs).unref();
	return () => clearTimeout(timer);
}

/** Collects all garbage, once: how large the heap may grow is settled at the end of a collection. It takes 40 ms of a processor. */
export function limitHeap(): void {
	setFlagsFromString(`--heap-growing-percent=${growth}`);
	setFlagsFromString("--expose-gc");
	const collect: unknown = runInNewContext("gc");
	if (typeof collect !== "function") throw new Error("V8 has no gc()");
	collect();
}
