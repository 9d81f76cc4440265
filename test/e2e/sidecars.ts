// Runs agents as sidecars, from the shipped example, instead of one cluster's Deployment.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentPods, startAgentPods } from "../../demo/agents/agent-pods.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { createPodNetwork } from "../controlplane/kwok-pod-network.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { fleetControl } from "./agents.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { removeNamespace } from "./remove-namespace.ts";

export interface Sidecars extends AsyncDisposable {
	readonly namespace: string;
	readonly pods: AgentPods;
	ready(): Promise<void>;
}

const replicas = 3;
const anchor = ["-n", "xpdb-system"];

/** Resolves when all sidecars are ready and the cluster's other agents are gone. */
export async function startSidecars(context: string): Promise<Sidecars> {
	const { octet, clusters, contexts } = sharedFleet();
	const index = clusters.findIndex(({ name }) => name === context) + 1;
	const cluster = clusters[index - 1];
	if (!cluster) throw new Error(`There is no cluster ${context}`);
	const namespace = `sidecars-${randomBytes(4).toString("hex")}`;
	const dir = mkdtempSync(join(tmpdir(), "xpdb-sidecars-"));
	const read = (file: string) => readFileSync(join(cluster.dir, file), "utf8");
	const shipped = (file: string) =>
		readFileSync(join(repositoryRoot, "agent", file), "utf8").replaceAll(/\bshop\b/g, namespace);
	const account = "system:serviceaccount:xpdb-system:xpdb-agent";
	const policies = shipped("deploy/policies.yaml");
	const declare = (change: object) =>
		kubectl(context, ["patch", "configmap", "xpdb-fleet", ...anchor, "--type=merge", "-p", JSON.stringify(change)]);
	const scale = (count: number) =>
		kubectl(context, [...anchor, "scale", "deployment", "xpdb-agent", `--replicas=${count}`]);
	const place = { ...cluster, octet, index: index + 100, address: `127.${octet}.${index + 100}.1` };
	const pki = (name: string) => read(join("pki", name));
	await Promise.all(contexts.map((each) => kubectl(each, ["create", "namespace", namespace])));
	const pods = await startAgentPods({
		cluster: {
			name: context,
			dir,
			server: cluster.server,
			certificates: {
				authority: { certificate: pki("ca.crt") },
				pairs: { kwok: { certificate: pki("admin.crt"), key: pki("admin.key") } },
			},
			network: (client) => createPodNetwork(client, place),
		},
		namespace,
		program: join(repositoryRoot, "dist", "test", "agent.js"),
		agentPair: { certificate: read("agents/tls.crt"), key: read("agents/tls.key") },
		fleetCertificate: read("agents/fleet-ca.crt"),
	});
	const ready = () =>
		eventually(`${replicas} ready sidecars in ${context}`, async () => {
			return pods.list().filter((pod) => pod.ready).length === replicas;
		});
	const stop = async (): Promise<void> => {
		await scale(2);
		await declare({ data: { namespaces: null } });
		await kubectl(
			context,
			["delete", "-f", "-", "--ignore-not-found", "--wait=false"],
			shipped("sidecar/sidecar.yaml"),
		);
		await removeNamespace(contexts, namespace);
		await pods.stop();
		await kubectl(context, ["apply", "--server-side", "--force-conflicts", "-f", "-"], policies);
		await eventually(`two agents in ${context} again`, async () => {
			return (await fleetControl().listAgents(context)).filter((agent) => agent.ready).length === 2;
		});
		rmSync(dir, { recursive: true, force: true });
	};
	try {
		const named = policies.replaceAll(`'${account}'`, `'system:serviceaccount:${namespace}:db', '${account}'`);
		await kubectl(context, ["apply", "--server-side", "--force-conflicts", "-f", "-"], named);
		await declare({ data: { namespaces: `- ${namespace}\n` } });
		await kubectl(context, ["apply", "-f", "-"], shipped("sidecar/sidecar.yaml"));
		await scale(0);
		await ready();
		await eventually(
			`no other agent in ${context}`,
			async () => (await fleetControl().listAgents(context)).length === 0,
		);
	} catch (error) {
		await stop();
		throw error;
	}
	return { namespace, pods, ready, [Symbol.asyncDispose]: stop };
}
