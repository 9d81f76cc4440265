// Faults of a running fleet. Each function starts a fault and resolves to a function that ends it. They use only FleetControl, so any
// process can call them.
import { setTimeout as delay } from "node:timers/promises";
import type { ComponentName } from "./components.ts";
import type { FleetControl } from "./fleet-control.ts";
import type { LinkCondition } from "./link-proxy.ts";

/** Ends the fault. If that restarts a process, resolves when the process is ready. */
export type EndFault = () => Promise<void>;

type Component = { readonly cluster: string; readonly component: ComponentName };
type Agent = { readonly cluster: string; readonly pod: string };

export async function freezeComponent(control: FleetControl, { cluster, component }: Component): Promise<EndFault> {
	await control.freeze(cluster, component);
	return async () => await control.thaw(cluster, component);
}

export async function killComponent(control: FleetControl, { cluster, component }: Component): Promise<EndFault> {
	await control.kill(cluster, component);
	return async () => await control.restart(cluster, component);
}

export async function degradeLink(control: FleetControl, link: string, condition: LinkCondition): Promise<EndFault> {
	await control.setLink(link, condition);
	return async () => await control.setLink(link, {});
}

/** Resets all connections of the link, now and after each period. */
export async function resetLinkEvery(control: FleetControl, link: string, periodMs: number): Promise<EndFault> {
	const over = new AbortController();
	await control.resetLink(link);
	const repeating = (async () => {
		while (!over.signal.aborted) {
			await delay(periodMs, undefined, { signal: over.signal }).catch(() => undefined);
			if (!over.signal.aborted) await control.resetLink(link);
		}
	})();
	return async () => {
		over.abort();
		await repeating;
	};
}

export async function freezeAgent(control: FleetControl, { cluster, pod }: Agent): Promise<EndFault> {
	await control.freezeAgent(cluster, pod);
	return async () => await control.thawAgent(cluster, pod);
}

/** Kills the agent. It stays dead until the end of the fault, like any other agent that dies in this cluster meanwhile. */
export async function killAgent(control: FleetControl, { cluster, pod }: Agent): Promise<EndFault> {
	await control.setAgentRestarts(cluster, false);
	await control.killAgent(cluster, pod);
	return async () => {
		await control.setAgentRestarts(cluster, true);
		await untilAgentsReady(control, cluster);
	};
}

/** Restarts the agents of a cluster with these variables, one at a time, so that one of them always serves. */
export async function giveAgentsEnvironment(
	control: FleetControl,
	cluster: string,
	environment: Readonly<Record<string, string>>,
): Promise<EndFault> {
	const restartAll = async (variables: Readonly<Record<string, string>>) => {
		await control.setAgentEnvironment(cluster, variables);
		for (const { name } of await control.listAgents(cluster)) {
			await control.killAgent(cluster, name);
			await untilAgentsReady(control, cluster);
		}
	};
	await restartAll(environment);
	return async () => await restartAll({});
}

export async function untilAgentsReady(control: FleetControl, cluster: string, timeoutMs = 120_000): Promise<void> {
	const deadline = performance.now() + timeoutMs;
	for (;;) {
		const agents = await control.listAgents(cluster);
		if (agents.length > 0 && agents.every(({ ready, pid }) => ready && pid !== undefined)) return;
		if (performance.now() > deadline) {
			const seen = agents.map(({ name, logFile }) => `${name} (${logFile})`).join(", ");
			throw new Error(`The agents of ${cluster} are not ready after ${timeoutMs / 1000} s: ${seen}`);
		}
		await delay(100);
	}
}
