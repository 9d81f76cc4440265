import type { Server } from "node:http";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { AgentPods } from "../../demo/agents/agent-pods.ts";
import { listen } from "../../demo/machine/endpoint.ts";
import { messageOf } from "../../demo/machine/setup-error.ts";
import type { RunningCluster } from "./cluster.ts";
import type { ComponentName } from "./components.ts";
import type { LinkCondition, LinkProxy } from "./link-proxy.ts";

export type AgentInfo = {
	readonly namespace: string;
	readonly name: string;
	readonly ip: string;
	/** Undefined while no process of the agent runs. */
	readonly pid: number | undefined;
	readonly ready: boolean;
	readonly restartCount: number;
	readonly logFile: string;
};

/**
 * Causes faults in a running fleet. Clusters are given by names such as "c1", pods by their own names.
 * Test files use it over loopback, because the fleet's processes are children of another process.
 */
export type FleetControl = {
	freeze(cluster: string, component: ComponentName): Promise<void>;
	thaw(cluster: string, component: ComponentName): Promise<void>;
	kill(cluster: string, component: ComponentName): Promise<void>;
	/** Restarts the component with the same flags. Resolves when it is ready. */
	restart(cluster: string, component: ComponentName): Promise<void>;
	listAgents(cluster: string): Promise<readonly AgentInfo[]>;
	freezeAgent(cluster: string, pod: string): Promise<void>;
	thawAgent(cluster: string, pod: string): Promise<void>;
	killAgent(cluster: string, pod: string): Promise<void>;
	/** Applies to agents that start from now on. */
	setAgentEnvironment(cluster: string, environment: Readonly<Record<string, string>>): Promise<void>;
	/** While this is off, agents that die stay dead. */
	setAgentRestarts(cluster: string, on: boolean): Promise<void>;
	/** Lists the names for setLink() and resetLink() (see links.ts). Empty in a fleet without links. */
	listLinks(): Promise<readonly string[]>;
	/** Replaces the previous condition. {} removes all faults. */
	setLink(link: string, condition: LinkCondition): Promise<void>;
	resetLink(link: string): Promise<void>;
};

const controlPort = 6444;

export function createFleetControl(
	parts: () => {
		readonly clusters: readonly RunningCluster[];
		readonly agents: readonly AgentPods[];
		readonly links?: ReadonlyMap<string, LinkProxy>;
	},
): FleetControl {
	const find = (name: string) => {
		const { clusters, agents } = parts();
		const at = clusters.findIndex((cluster) => cluster.name === name);
		const cluster = clusters[at];
		if (cluster === undefined) {
			throw new Error(`No cluster "${name}": there are ${clusters.map((other) => other.name).join(", ")}`);
		}
		return { cluster, agents: agents[at] };
	};
	const agentsOf = (name: string): AgentPods => {
		const { agents } = find(name);
		if (agents === undefined) {
			throw new Error(`Cluster "${name}" has no agents`);
		}
		return agents;
	};
	const linkOf = (name: string): LinkProxy => {
		const { links } = parts();
		const link = links?.get(name);
		if (link === undefined) {
			throw new Error(`No link "${name}": there are ${[...(links?.keys() ?? [])].join(", ")}`);
		}
		return link;
	};
	return {
		freeze: async (name, component) => find(name).cluster.freeze(component),
		thaw: async (name, component) => find(name).cluster.thaw(component),
		kill: async (name, component) => await find(name).cluster.kill(component),
		restart: async (name, component) => await find(name).cluster.restart(component),
		listAgents: async (name) =>
			agentsOf(name)
				.list()
				.map(({ namespace, name: pod, ip, process, ready, restartCount, logFile }) => ({
					namespace,
					name: pod,
					ip,
					pid: process?.pid,
					ready,
					restartCount,
					logFile,
				})),
		freezeAgent: async (name, pod) => agentsOf(name).freeze(pod),
		thawAgent: async (name, pod) => agentsOf(name).thaw(pod),
		killAgent: async (name, pod) => await agentsOf(name).kill(pod),
		setAgentEnvironment: async (name, environment) => agentsOf(name).setEnvironment(environment),
		setAgentRestarts: async (name, on) => agentsOf(name).setRestarts(on),
		listLinks: async () => [...(parts().links?.keys() ?? [])],
		setLink: async (name, condition) => linkOf(name).set(condition),
		resetLink: async (name) => linkOf(name).reset(),
	};
}

/** Serves the calls of connectFleet() while the fleet runs. */
export async function serveFleetControl(control: FleetControl, octet: number): Promise<Server> {
	const server = createServer((request, response) => {
		const answer = async () => {
			const { method, args } = JSON.parse(await text(request)) as { method: keyof FleetControl; args: unknown[] };
			if (!Object.hasOwn(control, method)) {
				throw new Error(`No such call: "${method}"`);
			}
			// connectFleet() below sends the arguments, so they fit the method.
			const call = control[method] as (...all: unknown[]) => Promise<unknown>;
			return await call(...args);
		};
		answer().then(
			(result) => response.end(JSON.stringify({ result })),
			(error: unknown) => {
				response.statusCode = 400;
				response.end(JSON.stringify({ error: messageOf(error) }));
			},
		);
	});
	await listen(server, { host: hostOf(octet), port: controlPort });
	server.unref();
	return server;
}

/** Returns a client of serveFleetControl(), for any process on this machine. */
export function connectFleet(octet: number): FleetControl {
	const call = async (method: keyof FleetControl, args: readonly unknown[]): Promise<unknown> => {
		const response = await fetch(`http://${hostOf(octet)}:${controlPort}/`, {
			method: "POST",
			body: JSON.stringify({ method, args }),
		});
		const { result, error } = (await response.json()) as { result?: unknown; error?: string };
		if (error !== undefined) {
			throw new Error(error);
		}
		return result;
	};
	const forward = (method: keyof FleetControl) =>
		[method, async (...args: unknown[]) => await call(method, args)] as const;
	const names = Object.keys(createFleetControl(() => ({ clusters: [], agents: [] }))) as (keyof FleetControl)[];
	return Object.fromEntries(names.map(forward)) as unknown as FleetControl;
}

function hostOf(octet: number): string {
	return `127.${octet}.0.1`;
}
