// Watches an agent of a shared fleet as a kubelet does while it is under attack: its memory, and whether its probes get answers.
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";
import type { AgentInfo } from "../../controlplane/fleet-control.ts";
import { agentNames, fleetControl } from "../agents.ts";
import type { SeenOfAgent } from "./agent-watch.ts";
import type { Cluster } from "./member-agent.ts";

/** The agent's memory limit. Above it, the agent would be killed. */
export const memoryLimitMb = Number(
	/limits:\s+memory: (\d+)Mi/.exec(
		readFileSync(new URL("../../../agent/deploy/deployment.yaml", import.meta.url), "utf8"),
	)?.[1],
);
/** Returns the agent that keeps the line in that cluster. The plugin's port-forwards also go to it. */
export async function firstAgent(cluster: Cluster): Promise<AgentInfo & { readonly pid: number }> {
	const [first] = await agentNames(cluster.name);
	const agent = (await fleetControl().listAgents(cluster.name)).find(({ name }) => name === first);
	if (agent?.pid === undefined) throw new Error(`There is no agent in ${cluster.name}`);
	return { ...agent, pid: agent.pid };
}

/** Watches the agent continuously. The returned function ends that and returns what was seen. */
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
