// Controls the agents of the shared fleet.
import { connectFleet, type FleetControl } from "../controlplane/fleet-control.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually } from "./kubectl.ts";

export function fleetControl(): FleetControl {
	return connectFleet(sharedFleet().octet);
}

/** Returns the names of the agents' pods in a cluster, sorted. The first one hosts the queue of waiting callers. */
export async function agentNames(cluster: string): Promise<readonly string[]> {
	const agents = await fleetControl().listAgents(cluster);
	return agents.map(({ name }) => name).toSorted();
}

/** Kills one agent, which restarts with this environment, and waits until it is ready again. */
export async function restartAgent(
	cluster: string,
	pod: string,
	environment: Readonly<Record<string, string>>,
): Promise<void> {
	const control = fleetControl();
	const find = async () => (await control.listAgents(cluster)).find(({ name }) => name === pod);
	const before = await find();
	await control.setAgentEnvironment(cluster, environment);
	await control.killAgent(cluster, pod);
	await eventually(`agent ${pod} of ${cluster} to be ready again`, async () => {
		const now = await find();
		return now?.ready === true && now.restartCount > (before?.restartCount ?? 0);
	});
	await control.setAgentEnvironment(cluster, {});
}

/** Thaws frozen agents, lets dead ones restart with the default environment, and waits until two are ready in every cluster. */
export async function recoverAgents(): Promise<void> {
	const control = fleetControl();
	await Promise.all(
		sharedFleet().contexts.map(async (cluster) => {
			await control.setAgentEnvironment(cluster, {});
			await control.setAgentRestarts(cluster, true);
			for (const { name, pid } of await control.listAgents(cluster)) {
				if (pid !== undefined) await control.thawAgent(cluster, name);
			}
			await eventually(`two ready agents in ${cluster}`, async () => {
				const agents = await control.listAgents(cluster);
				return agents.filter(({ ready }) => ready).length === 2;
			});
		}),
	);
}
