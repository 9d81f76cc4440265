import type { BudgetData, ClusterData, DrainData, Limits } from "./scenario.ts";
import type { WorkloadSpec } from "./workload.ts";

export const web = { app: "web" };
export const oneUnavailable: readonly BudgetData[] = [{ name: "web", selector: web, maxUnavailable: 1 }];

export function statefulSet(replicas: number, more: Partial<WorkloadSpec> = {}): WorkloadSpec {
	return { kind: "StatefulSet", name: "web", labels: web, replicas, ...more };
}

export function cluster(id: string, replicas: number, more: Partial<ClusterData> = {}): ClusterData {
	return { id, agents: 2, workloads: [statefulSet(replicas)], budgets: oneUnavailable, ...more };
}

export function drain(name: string, pods: readonly string[], more: Partial<DrainData> = {}): DrainData {
	return { name, pods, attempts: 3, ...more };
}

/** Returns a drain of one pod with one attempt, for exhaustive searches, where every further round multiplies the states. */
export function onlyOnce(name: string, path: string, more: Partial<DrainData> = {}): DrainData {
	return drain(name, [path], { attempts: 1, neverWaits: true, ...more });
}

/** Most faults of messages and processes, and sweeps and writes to pods. */
export const trouble: Partial<Limits> = {
	agentJumps: 4,
	drainJumps: 2,
	silences: 1,
	lost: 1,
	gaveUp: 2,
	doubled: 2,
	repeated: 2,
	answerLost: 2,
	crashes: 1,
	restarts: 1,
	touches: 1,
	sweeps: 2,
};
