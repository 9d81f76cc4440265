import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentPods } from "../../demo/agents/agent-pods.ts";
import { startAgentPods } from "../../demo/agents/agent-pods.ts";
import { createAuthority, issueAgentCertificate } from "../../demo/machine/certificates.ts";
import { tailOf } from "../../demo/machine/process.ts";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import type { Binaries } from "./binaries.ts";
import type { RunningCluster } from "./cluster.ts";
import { installAgents } from "./install-agents.ts";
import { createPodNetwork } from "./kwok-pod-network.ts";
import type { Links } from "./links.ts";
import { peerPort } from "./links.ts";
import { waitForPolicies } from "./policies-in-force.ts";

const agentsPerCluster = 2;
const readyTimeoutMs = 90_000;

export type AgentsOptions = {
	readonly clusters: readonly RunningCluster[];
	readonly binaries: Binaries;
	readonly dir: string;
	readonly programs: string;
	readonly environment?: Readonly<Record<string, string>>;
	readonly links?: Links;
	readonly signal?: AbortSignal;
	/** Called for each cluster as soon as there are agents to stop. */
	readonly onStarted: (pods: AgentPods) => void;
};

/**
 * Installs the agents with the shipped manifests, as one fleet. Resolves when all agents are ready and the shipped policies are in force.
 */
export async function startAgents(options: AgentsOptions): Promise<readonly AgentPods[]> {
	const program = join(options.programs, "agent.js");
	const manifests = join(repositoryRoot, "agent", "deploy");
	if (!existsSync(program) || !existsSync(manifests)) {
		throw new SetupError(`Cannot start agents: there is no "${existsSync(program) ? manifests : program}"`, {
			hint: "Build it with `npm run build`, or start without agents: --agents false",
		});
	}
	const authority = await createAuthority("xpdb-fleet-ca");
	writeFileSync(join(options.dir, "fleet-ca.crt"), authority.certificate);
	const { links } = options;
	// Agents reach other clusters through links, and agents of their own cluster directly.
	const membersAsSeenFrom = (from: string) =>
		options.clusters.map(({ id, name, address }) => {
			const { host, port } =
				links === undefined || name === from ? { host: address, port: peerPort } : links.near(`${from}->${name}`);
			return { id, name, address: `${host}:${port}` };
		});
	return await Promise.all(
		options.clusters.map(async (cluster) => {
			const agentPair = await issueAgentCertificate(authority, { clusterId: cluster.id, address: cluster.address });
			const pods = await startAgentPods({
				cluster: { ...cluster, network: (client) => createPodNetwork(client, cluster) },
				program,
				agentPair,
				fleetCertificate: authority.certificate,
				...(links === undefined ? {} : { apiServer: links.near(`${cluster.name}->${cluster.name}`) }),
				...(options.environment === undefined ? {} : { environment: options.environment }),
			});
			options.onStarted(pods);
			await installAgents({
				cluster,
				kubectl: options.binaries.kubectl,
				manifests,
				members: membersAsSeenFrom(cluster.name),
				fleetCertificate: authority.certificate,
				agentPair,
			});
			await waitUntilReady(cluster, pods, options.signal);
			await waitForPolicies(cluster, options.signal);
			return pods;
		}),
	);
}

async function waitUntilReady(
	cluster: RunningCluster,
	pods: AgentPods,
	signal: AbortSignal | undefined,
): Promise<void> {
	const deadline = performance.now() + readyTimeoutMs;
	while (pods.list().filter((pod) => pod.ready).length < agentsPerCluster) {
		signal?.throwIfAborted();
		if (performance.now() > deadline) {
			const seen = pods.list().map((pod) => `${pod.name} (${pod.logFile}):\n${tailOf(pod.logFile)}`);
			throw new SetupError(`The agents of ${cluster.name} are not ready after ${readyTimeoutMs / 1000} s`, {
				hint: seen.length === 0 ? "No pod of an agent was scheduled" : seen.join("\n"),
			});
		}
		await delay(50);
	}
}
