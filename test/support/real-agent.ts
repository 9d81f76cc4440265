// Runs a cluster's two shipped agents as processes in front of a small API server, all on loopback. The test observes one agent.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { agentManifests } from "../../demo/agents/agent-manifests.ts";
import { startAgentPods } from "../../demo/agents/agent-pods.ts";
import { applyManifests } from "../../demo/apiserver/apply-manifests.ts";
import { createSmallCertificates } from "../../demo/apiserver/small-certificates.ts";
import { type SmallCluster, startSmallCluster } from "../../demo/apiserver/small-cluster.ts";
import { LoopbackNetwork } from "../../demo/loopback-network.ts";
import { buildPrograms } from "../../demo/machine/build-programs.ts";
import { createAuthority, issueAgentCertificate, type KeyPair } from "../../demo/machine/certificates.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";

export interface RealAgent extends AsyncDisposable {
	readonly cluster: SmallCluster;
	readonly host: string;
	readonly ports: { readonly grpc: number; readonly peers: number; readonly http: number };
	readonly fleetCertificate: string;
	readonly pid: number;
	readonly pair: KeyPair;
	/** The agent's peak memory, in MiB. */
	highestMb(): number;
	restarts(): number;
	log(): string;
}

/** In MiB, from the Deployment. In a container, the kernel kills an agent that exceeds it. */
export const memoryLimitMb = Number(
	/limits:\s+memory: (\d+)Mi/.exec(
		readFileSync(join(repositoryRoot, "agent", "deploy", "deployment.yaml"), "utf8"),
	)?.[1],
);

export async function startRealAgent(): Promise<RealAgent> {
	const program = (await buildPrograms(() => undefined)).agent;
	const dir = mkdtempSync(join(tmpdir(), "xpdb-agent-"));
	const certificates = await createSmallCertificates("c1", dir);
	const network = new LoopbackNetwork();
	const cluster = await startSmallCluster({
		name: "c1",
		dir,
		certificates,
		nodes: 2,
		dialPod: (pod, port) => network.dial(pod, port),
		runsElsewhere: ({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === "xpdb-agent",
	});
	const authority = await createAuthority("xpdb-fleet-ca");
	const pair = await issueAgentCertificate(authority, { clusterId: cluster.id });
	const agents = await startAgentPods({
		cluster: { name: "c1", dir, certificates, server: cluster.server, network: (client) => network.for(client) },
		agentPair: pair,
		fleetCertificate: authority.certificate,
		program,
	});
	const members = [{ id: cluster.id, name: "c1", address: agents.peerAddress }];
	const fleet = { members, fleetCertificate: authority.certificate, agentPair: pair };
	applyManifests(cluster.controllers, agentManifests(join(repositoryRoot, "agent", "deploy"), fleet));
	const first = () => agents.list().toSorted((a, b) => (a.name < b.name ? -1 : 1))[0];
	while (agents.list().length < 2 || !agents.list().every(({ ready }) => ready)) await delay(50);
	const agent = first();
	if (!agent?.ports || !agent.process) throw new Error("The agent is ready and does not run");
	const { ports, ip, process } = agent;
	return {
		cluster,
		host: ip,
		ports,
		fleetCertificate: authority.certificate,
		pair,
		pid: process.pid,
		highestMb() {
			const status = readFileSync(`/proc/${process.pid}/status`, "utf8");
			return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
		},
		restarts: () => agent.restartCount,
		log: () => readFileSync(agent.logFile, "utf8"),
		async [Symbol.asyncDispose]() {
			await agents.stop();
			await cluster.stop();
			rmSync(dir, { recursive: true, force: true });
		},
	};
}
