// Finds what a soak must not leave behind: reservations, held Leases, cordons, processes and large agents.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Fleet } from "../controlplane/fleet.ts";

/** In MB, below the limit of the shipped Deployment. A flood may take more memory, but a soak has none. */
const memoryLimitMb = 160;
/** A lost grant ends after 30 s, and a cluster's second agent waits 5 s longer than the first. */
const quietAfterMs = 60_000;

interface LeaseList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
		readonly spec: { readonly holderIdentity?: string };
	}[];
}

interface NodeList {
	readonly items: readonly {
		readonly metadata: { readonly name: string };
		readonly spec: { readonly unschedulable?: boolean };
	}[];
}

/** Waits until nothing is left, or until everything should have ended by itself. Returns what is left, one line each. */
export async function findLeaks(fleet: Fleet): Promise<readonly string[]> {
	const deadline = performance.now() + quietAfterMs;
	let left = await findLeftovers(fleet);
	while (left.length > 0 && performance.now() < deadline) {
		await delay(500);
		left = await findLeftovers(fleet);
	}
	return [...left, ...findLargeAgents(fleet)];
}

async function findLeftovers(fleet: Fleet): Promise<readonly string[]> {
	const left = await Promise.all(
		fleet.clusters.map(async ({ name, client }) => {
			const { items: leases } = await client.get<LeaseList>(
				"/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases",
			);
			const { items: nodes } = await client.get<NodeList>("/api/v1/nodes");
			return [
				...leases.flatMap(({ metadata, spec }) => {
					const state = JSON.parse(metadata.annotations?.["xpdb.form3.tech/state"] ?? "{}") as {
						readonly reservations?: readonly unknown[];
					};
					const { length } = state.reservations ?? [];
					return [
						...(spec.holderIdentity ? [`Lease ${metadata.name} in ${name} is held by ${spec.holderIdentity}`] : []),
						...(length > 0 ? [`Lease ${metadata.name} in ${name} has ${length} reservations`] : []),
					];
				}),
				...nodes
					.filter(({ spec }) => spec.unschedulable)
					.map(({ metadata }) => `node ${metadata.name} in ${name} is cordoned`),
			];
		}),
	);
	return [...left.flat(), ...findPlugins(fleet)];
}

/** Returns this fleet's plugins that still run: those with its kubeconfig in their environment. */
function findPlugins({ kubeconfigPath }: Fleet): readonly string[] {
	return readdirSync("/proc")
		.filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
		.filter((pid) => read(`/proc/${pid}/cmdline`).includes("kubectl-xpdb"))
		.filter((pid) => read(`/proc/${pid}/environ`).includes(kubeconfigPath))
		.map((pid) => `process ${pid} still runs: ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim()}`);
}

/** Returns the resident memory of every running agent, in megabytes (10^6 bytes). */
export function agentMemoryMb(fleet: Fleet): readonly number[] {
	return fleet.agents
		.flatMap((pods) => pods.list())
		.flatMap(({ process: agent }) => (agent ? [memoryMb(agent.pid)] : []));
}

function findLargeAgents(fleet: Fleet): readonly string[] {
	return agentMemoryMb(fleet)
		.filter((megabytes) => megabytes > memoryLimitMb)
		.map((megabytes) => `an agent has ${megabytes.toFixed(0)} MB, its limit is ${memoryLimitMb} MB`);
}

function memoryMb(pid: number): number {
	return (Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024) / 1e6;
}

/** Returns "" if the process has ended. */
function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
