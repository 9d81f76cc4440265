import { readFileSync } from "node:fs";

/** Returns the present and the highest resident memory of a process, in megabytes. */
export function memoryOf(pid: number): { readonly now: number; readonly highest: number } {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
	return { now: field("VmRSS"), highest: field("VmHWM") };
}
