// Reads processor time by program. On two cores it limits most figures, and it does not contain the noise of other programs.
import { readFileSync } from "node:fs";
import type { Bench } from "./bench.ts";

/** Milliseconds used so far, for all clusters together. */
export type CpuTime = Readonly<Record<string, number>>;

/** Linux counts in hundredths of a second. */
const tickMs = 10;

export function cpuTimeOf({ fleet }: Bench): CpuTime {
	const total: Record<string, number> = {};
	const add = (name: string, ms: number): void => {
		total[name] = (total[name] ?? 0) + ms;
	};
	for (const { components } of fleet.clusters) {
		for (const [name, { pid }] of Object.entries(components)) add(name, cpuMs(pid));
	}
	for (const { process } of fleet.agents.flatMap((agents) => agents.list()))
		if (process) add("agents", cpuMs(process.pid));
	const { user, system } = globalThis.process.cpuUsage();
	add("caller", (user + system) / 1_000);
	return total;
}

/** Returns what was used between the two readings, divided by the number of things that were done. */
export function cpuPerThing(before: CpuTime, after: CpuTime, things: number): CpuTime {
	const spent = Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)] as const);
	const all = spent.reduce((sum, [, ms]) => sum + ms, 0);
	return Object.fromEntries([...spent, ["all", all] as const].map(([name, ms]) => [name, round(ms / things)]));
}

/** Returns the processor time that a process has used so far. */
export function cpuMs(pid: number): number {
	return ticksOf(pid, [11, 12]) * tickMs;
}

/** Returns the processor time of all children of this process that have ended. */
export function endedChildrenCpuMs(): number {
	return ticksOf(process.pid, [13, 14]) * tickMs;
}

function ticksOf(pid: number, places: readonly number[]): number {
	// The program's name is in brackets and may contain spaces. User and system time are the 12th and 13th fields after it, and those of
	// children the next two.
	const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
	const fields = rest.split(" ");
	return places.reduce((sum, place) => sum + Number(fields[place]), 0);
}

function round(ms: number): number {
	return Math.round(ms * 100) / 100;
}
