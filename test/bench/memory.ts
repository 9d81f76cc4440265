import { readFileSync } from "node:fs";

/** Megabytes of resident memory. */
export function memoryOf(pid: number): { readonly now: number; readonly highest: number } {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
	return { now: field("VmRSS"), highest: field("VmHWM") };
}
