import { readFileSync } from "node:fs";

/** Returns megabytes of resident memory. `highest` is the peak. */
export function memoryOf(pid: number): { readonly now: number; readonly highest: number } {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
	return { now: field("VmRSS"), highest: field("VmHWM") };
}
