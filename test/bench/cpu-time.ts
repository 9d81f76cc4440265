// Reads the processor time of programs from /proc.
import { readFileSync } from "node:fs";
import type { Bench } from "./bench.ts";

/** Milliseconds by program, summed over all clusters. "caller" is this process. */
export type CpuTime = Readonly<Record<string, number>>;

/** The kernel reports processor time in hundredths of a second. */
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

/** Returns the milliseconds that each program used between the two readings, divided by `things`. "all" is the sum of all programs. */
export function cpuPerThing(before: CpuTime, after: CpuTime, things: number): CpuTime {
	const spent = Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)] as const);
	const all = spent.reduce((sum, [, ms]) => sum + ms, 0);
	return Object.fromEntries([...spent, ["all", all] as const].map(([name, ms]) => [name, round(ms / things)]));
}

export function cpuMs(pid: number): number {
	return ticksOf(pid, [11, 12]) * tickMs;
}

export function endedChildrenCpuMs(): number {
	return ticksOf(process.pid, [13, 14]) * tickMs;
}

function ticksOf(pid: number, places: readonly number[]): number {
	// The process name is in brackets and may contain spaces. The 12th and 13th fields after it are user and system time. The next two are
	// those of ended children.
	const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
	const fields = rest.split(" ");
	return places.reduce((sum, place) => sum + Number(fields[place]), 0);
}

function round(ms: number): number {
	return Math.round(ms * 100) / 100;
}
