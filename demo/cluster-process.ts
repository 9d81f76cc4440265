// Runs one small cluster as a separate process. small-fleet.ts starts it and sends messages over an IPC channel. The process ends when that
// channel closes.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { repositoryRoot } from "../scripts/repository-root.ts";
import { agentManifests } from "./agents/agent-manifests.ts";
import { type AgentPods, startAgentPods } from "./agents/agent-pods.ts";
import { type ApiObject, textAt } from "./apiserver/api-object.ts";
import { applyManifests } from "./apiserver/apply-manifests.ts";
import { isReady } from "./apiserver/eviction.ts";
import { type SmallCluster, startSmallCluster } from "./apiserver/small-cluster.ts";
import type { FromCluster, InstallMessage, StartMessage, ToCluster } from "./cluster-messages.ts";
import { LoopbackNetwork } from "./loopback-network.ts";
import { codeOf, messageOf, SetupError } from "./machine/setup-error.ts";

const database = join(import.meta.dirname, "database.yaml");
const agentLabel = "app.kubernetes.io/name";

let cluster: SmallCluster | undefined;
let agents: AgentPods | undefined;
let settings: StartMessage | undefined;
let isEnding = false;

function tell(message: FromCluster): void {
	if (process.connected) process.send?.(message);
}

async function start(message: StartMessage): Promise<void> {
	settings = message;
	const network = new LoopbackNetwork();
	cluster = await startSmallCluster({
		...message,
		dialPod: (pod, port) => network.dial(pod, port),
		runsElsewhere: isAgent,
	});
	const { server, id, auditLog } = cluster;
	agents = await startAgentPods({
		cluster: { ...message, server, network: (client) => network.for(client) },
		fleetCertificate: message.fleetCertificate,
		program: message.program,
		environment: message.environment,
	});
	cluster.core.store.subscribe(({ resource, object, previous, type }) => {
		if (resource !== "pods") return;
		const was = previous !== undefined && isHealthy(previous);
		const healthy = type !== "DELETED" && isHealthy(object);
		if (was === healthy) return;
		const { name, labels = {} } = object.metadata;
		const node = textAt(object, "spec.nodeName");
		tell({ kind: "pod", name, labels, node, healthy });
	});
	tell({ kind: "started", server, id, peerAddress: agents.peerAddress, auditLog });
}

function isAgent({ metadata }: ApiObject): boolean {
	return metadata.labels?.[agentLabel] === "xpdb-agent";
}

function isHealthy(pod: ApiObject): boolean {
	return isReady(pod) && pod.metadata.deletionTimestamp === undefined;
}

function install({ members, agentPair }: InstallMessage): void {
	if (!cluster || !agents || !settings) throw new Error("There is no cluster to install anything in");
	const { fleetCertificate } = settings;
	agents.setCertificate(agentPair);
	const shipped = agentManifests(join(repositoryRoot, "agent", "deploy"), { members, fleetCertificate, agentPair });
	const documents = parseAllDocuments(readFileSync(database, "utf8")).map((document) => document.toJS() as ApiObject);
	applyManifests(cluster.controllers, [...shipped, ...documents]);
}

async function end(): Promise<void> {
	if (isEnding) return;
	isEnding = true;
	await agents?.stop();
	await cluster?.stop();
	process.exit(0);
}

function fail(error: unknown): void {
	const problem = codeOf(error) === "EADDRINUSE" ? occupied() : error;
	const hint = problem instanceof SetupError ? problem.hint : undefined;
	if (!(problem instanceof SetupError)) console.error(problem);
	tell({ kind: "failed", message: messageOf(problem), hint });
}

function occupied(): SetupError {
	return new SetupError(`Port ${settings?.port} is in use`, {
		hint: "Choose another with --port, or leave it out to get free ones",
	});
}

process.on("message", (message: ToCluster) => {
	switch (message.kind) {
		case "start":
			start(message).catch(fail);
			break;
		case "install":
			try {
				install(message);
			} catch (error) {
				fail(error);
			}
			break;
		case "stop":
			void end();
			break;
	}
});
process.on("SIGTERM", () => void end());
// The parent died without a message, so this process must stop the agents and remove the folder.
process.on("disconnect", () => {
	if (isEnding) return;
	isEnding = true;
	const folder = settings ? join(settings.dir, "..") : undefined;
	void Promise.all((agents?.list() ?? []).map(async (pod) => await pod.process?.kill())).then(() => {
		if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
		process.exit(0);
	});
});
