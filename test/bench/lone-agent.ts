// Starts single agents for a measurement, and connects to them without the tunnel through the API server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ManagedProcess, startProcess } from "../../demo/machine/process.ts";
import { agentServerName, createAgentClient } from "../../proto/credentials.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import type { Bench } from "./bench.ts";

const readyTimeoutMs = 60_000;
const agentNamespace = "xpdb-system";

export interface LoneAgent extends AsyncDisposable {
	readonly pid: number;
	/** Milliseconds from the start of the process. */
	readonly readyMs: number;
	readonly member: RemoteCluster;
}

/**
 * Ends the first cluster's agents for good. Returns a function that starts an agent with the command line and environment of one of those.
 */
export async function replaceAgents(bench: Bench): Promise<() => Promise<LoneAgent>> {
	const [cluster] = bench.fleet.clusters;
	const [agents] = bench.fleet.agents;
	const [pod] = agents?.list() ?? [];
	if (!cluster || !agents || !pod?.process) throw new Error("no agent runs");
	const { ip } = pod;
	const start = commandOf(pod.process.pid, join(cluster.dir, "bench-agent.log"));
	agents.setRestarts(false);
	await Promise.all(agents.list().flatMap(({ process }) => (process ? [process.kill()] : [])));
	return async () => {
		await using started = new AsyncDisposableStack();
		const agent = start();
		started.defer(() => agent.kill());
		const readyMs = await untilReady(ip, agent);
		const member = started.adopt(await openMember(bench, ip), ({ close }) => close()).member;
		const all = started.move();
		return { pid: agent.pid, readyMs, member, [Symbol.asyncDispose]: () => all.disposeAsync() };
	};
}

/** Connects to an agent of the first cluster with a token of the operators' account. */
export async function openMember(bench: Bench, ip: string): Promise<{ member: RemoteCluster; close: () => void }> {
	const [cluster] = bench.fleet.clusters;
	if (!cluster) throw new Error("no cluster");
	const { status } = await cluster.client.send<{ readonly status: { readonly token: string } }>(
		"POST",
		`/api/v1/namespaces/${agentNamespace}/serviceaccounts/xpdb-operator/token`,
		{
			apiVersion: "authentication.k8s.io/v1",
			kind: "TokenRequest",
			spec: { audiences: ["xpdb-agent"], expirationSeconds: 600 },
		},
	);
	const client = createAgentClient({
		address: `${ip}:8443`,
		serverName: agentServerName(agentNamespace),
		ca: readFileSync(join(bench.fleet.dir, "fleet-ca.crt"), "utf8"),
		identity: { kind: "token", token: async () => status.token },
	});
	return {
		member: new RemoteCluster({ id: cluster.id, name: cluster.name, client }),
		close: () => client.close(),
	};
}

function commandOf(pid: number, logFile: string): () => ManagedProcess {
	const words = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").slice(0, -1);
	const [command = "", ...args] = words("cmdline");
	const env = Object.fromEntries(
		words("environ").map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
	);
	return () => startProcess({ name: "bench agent", command, args, env, logFile });
}

async function untilReady(ip: string, agent: ManagedProcess): Promise<number> {
	const startedAt = performance.now();
	for (;;) {
		const elapsedMs = performance.now() - startedAt;
		if (!agent.running || elapsedMs > readyTimeoutMs) throw new Error(`the agent did not get ready: ${agent.logFile}`);
		const answer = await fetch(`http://${ip}:8080/readyz`).catch(() => undefined);
		await answer?.arrayBuffer();
		if (answer?.ok) return performance.now() - startedAt;
		await delay(10);
	}
}
