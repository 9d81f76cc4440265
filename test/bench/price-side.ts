// Runs one checkout's agents on their own fleet, and its eviction engine in this process.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as benchModule from "./bench.ts";
import type { Bench } from "./bench.ts";
import { cpuTimeOf } from "./cpu-time.ts";
import type * as evictorModule from "./evictor.ts";
import { type BenchPod, bareEvictor, type Evictor } from "./evictor.ts";
import { benchPods } from "./rates.ts";
import { type RequestCounts, requestCountsOf } from "./request-counts.ts";
import { agentFlags } from "./run-measurements.ts";
import type * as workloadModule from "./workload.ts";
import type { Workload } from "./workload.ts";

export const roles = ["plugin", "agents", "API servers", "etcd", "controllers, kwok"] as const;
type Role = (typeof roles)[number];

/** Milliseconds of processor time by role. The plugins of all sides run in this process. */
export type RoleTimes = Readonly<Record<Role, number>>;

export function mapRoles(of: (role: Role) => number): RoleTimes {
	return {
		plugin: of("plugin"),
		agents: of("agents"),
		"API servers": of("API servers"),
		etcd: of("etcd"),
		"controllers, kwok": of("controllers, kwok"),
	};
}

export interface Side {
	readonly name: string;
	readonly engine: Evictor;
	readonly bare: Evictor;
	/** Waits until all replacements are ready. Returns the pods to evict. */
	ready(): Promise<BenchPod[]>;
	cpu(): Omit<RoleTimes, "plugin">;
	requests(): Promise<RequestCounts>;
	/** Returns the resident MB of each agent. */
	memory(): readonly number[];
	close(): Promise<void>;
}

interface SideOptions {
	readonly name: string;
	/** The folder of a checkout with built programs. */
	readonly checkout: string;
	readonly profiles: string | undefined;
	readonly signal: AbortSignal;
	readonly log: (line: string) => void;
}

/** Per app and cluster. */
const replicas = 40;

export async function openSide({ name, checkout, profiles, signal, log }: SideOptions): Promise<Side> {
	const load = async <T>(file: string): Promise<T> =>
		(await import(pathToFileURL(join(checkout, "test", "bench", file)).href)) as T;
	const { startBench } = await load<typeof benchModule>("bench.ts");
	const { openEvictor } = await load<typeof evictorModule>("evictor.ts");
	const { createRoomyWorkload } = await load<typeof workloadModule>("workload.ts");
	const bench: Bench = await startBench({
		clusters: 3,
		nodes: 4,
		...(profiles !== undefined && {
			agentEnvironment: { NODE_OPTIONS: `${agentFlags} --cpu-prof --cpu-prof-dir=${profiles}` },
		}),
		signal,
		log: (line) => log(`${name}: ${line}`),
	});
	const workload: Workload = await createRoomyWorkload(bench, replicas);
	const engine = await openEvictor(bench);
	return {
		name,
		engine,
		bare: bareEvictor(bench),
		async ready() {
			await workload.ready();
			return [...(await benchPods(workload))];
		},
		cpu() {
			const { agents = 0, caller: _caller, ...programs } = cpuTimeOf(bench);
			const { apiserver = 0, etcd = 0, ...others } = programs;
			const rest = Object.values(others).reduce((sum, ms) => sum + ms, 0);
			return { agents, "API servers": apiserver, etcd, "controllers, kwok": rest };
		},
		requests: () => requestCountsOf(bench.fleet.clusters.map(({ client }) => client)),
		memory: () => bench.fleet.agents.flatMap((agents) => agents.list()).flatMap(({ process }) => rssMb(process?.pid)),
		async close() {
			await engine.close();
			await bench.stop();
		},
	};
}

function rssMb(pid: number | undefined): readonly number[] {
	if (pid === undefined) return [];
	const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
	return kilobytes === undefined ? [] : [(Number(kilobytes) * 1024) / 1e6];
}
