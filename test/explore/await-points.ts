// Defines awaitPoint(), which driven code calls around each operand of an `await`, so that a run can stop a process there. Only threads
// that explore load code with these calls (driven-sources.ts); the shipped code has none.
import { AsyncLocalStorage } from "node:async_hooks";
import type { StoppableProcess } from "./await-stops.ts";

/** The process whose code is running. */
export const running = new AsyncLocalStorage<StoppableProcess>();

declare global {
	var awaitPoint: (<T>(value: T, place: string) => T | Promise<Awaited<T>>) | undefined;
}

export function awaitPoint<T>(value: T, place: string): T | Promise<Awaited<T>> {
	const process = running.getStore();
	const stops = process?.stops;
	if (!process || !stops) return value;
	const stop = stops.findStop(process, place);
	return stop ? afterStop(value, () => stops.stop(process, stop)) : value;
}

/** Stops the process once the awaited value has settled, before the process continues with it. */
async function afterStop<T>(value: T, stop: () => Promise<void>): Promise<Awaited<T>> {
	try {
		return await value;
	} finally {
		await stop();
	}
}
