// Watches an agent's memory and probes during an attack, as a kubelet does.
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";
import type { AgentInfo } from "../../controlplane/fleet-control.ts";
import { agentNames, fleetControl } from "../agents.ts";
import type { SeenOfAgent } from "./agent-watch.ts";
import type { Cluster } from "./member-agent.ts";

/** From the shipped Deployment. Above this, the kernel would kill the agent. */
export const memoryLimitMb = Number(
	/limits:\s+memory: (\d+)Mi/.exec(
		readFileSync(new URL("../../../agent/deploy/deployment.yaml", import.meta.url), "utf8"),
	)?.[1],
);
/** Returns the agent that hosts the queue of waiting callers and gets the plugin's port-forwards. */
export async function firstAgent(cluster: Cluster): Promise<AgentInfo & { readonly pid: number }> {
	const [first] = await agentNames(cluster.name);
	const agent = (await fleetControl().listAgents(cluster.name)).find(({ name }) => name === first);
	if (agent?.pid === undefined) throw new Error(`There is no agent in ${cluster.name}`);
	return { ...agent, pid: agent.pid };
}

/** Returns a function that ends the watch and returns its results. */
export function watchAgent({ ip, pid }: AgentInfo): () => Promise<SeenOfAgent> {
	const worker = new Worker(new URL("agent-watch.ts", import.meta.url), { workerData: { ip, pid } });
	const seen = new Promise<SeenOfAgent>((resolve, reject) => {
		worker.once("message", resolve);
		worker.once("error", reject);
	});
	return () => {
		worker.postMessage("end");
		return seen;
	};
}

export function expectToBeWell({ highestMb, answers, failedInARow }: SeenOfAgent): void {
	expect(answers).toBeGreaterThan(10);
	expect(highestMb).toBeLessThan(memoryLimitMb);
	expect(failedInARow).toBeLessThan(3);
}
