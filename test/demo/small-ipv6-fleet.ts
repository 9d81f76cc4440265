// Starts small API servers on ::1. The agents' pods run as real processes on ::1. The small API server cannot apply objects, so they are
// created from the files that install writes, as with GitOps.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { agentManifests } from "../../demo/agents/agent-manifests.ts";
import type { ApiObject } from "../../demo/apiserver/api-object.ts";
import { applyManifests } from "../../demo/apiserver/apply-manifests.ts";
import { createSmallCertificates } from "../../demo/apiserver/small-certificates.ts";
import { startSmallCluster } from "../../demo/apiserver/small-cluster.ts";
import { LoopbackNetwork } from "../../demo/loopback-network.ts";
import { createApiClient } from "../../demo/machine/api-client.ts";
import { buildPrograms } from "../../demo/machine/build-programs.ts";
import { type Authority, createAuthority, issueAgentCertificate } from "../../demo/machine/certificates.ts";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { startMountedAgents } from "../controlplane/mounted-agents.ts";
import type { Ipv6Fleet } from "../support/ipv6-fleet.ts";

const address = "::1";
const names = ["c1", "c2"];

export async function startSmallIpv6Fleet(): Promise<Ipv6Fleet> {
	await using opened = new AsyncDisposableStack();
	const programs = await buildPrograms(() => undefined);
	const dir = mkdtempSync(join(tmpdir(), "xpdb-ipv6-"));
	opened.defer(() => rmSync(dir, { recursive: true, force: true }));
	const manifests = join(dir, "manifests");
	const clusters = await Promise.all(
		names.map(async (name) => {
			const folder = join(dir, name);
			mkdirSync(folder);
			const certificates = await createSmallCertificates(name, folder, address);
			const network = new LoopbackNetwork(address);
			const cluster = await startSmallCluster({
				name,
				dir: folder,
				address,
				certificates,
				nodes: 3,
				dialPod: (pod, port) => network.dial(pod, port),
				runsElsewhere: ({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === "xpdb-agent",
			});
			opened.defer(() => cluster.stop());
			const { server, auditLog } = cluster;
			const authority = certificates.authority.certificate;
			const client = createApiClient({ server, authority, credentials: certificates.pairs.admin });
			opened.defer(() => client.close());
			const agents = await startMountedAgents(
				{ name, dir: folder, server, certificates, client, network: (own) => network.for(own) },
				{ program: programs.agent, namespace: "xpdb-system" },
			);
			opened.defer(() => agents.stop());
			const install = async (authority: Authority): Promise<void> => {
				const pair = await issueAgentCertificate(authority, { clusterId: cluster.id });
				const documents = parseAllDocuments(readFileSync(join(manifests, name, "xpdb.yaml"), "utf8"));
				const mounts = agentManifests(join(repositoryRoot, "agent", "deploy"), {
					members: [],
					fleetCertificate: authority.certificate,
					agentPair: pair,
				}).filter(({ metadata }) => ["xpdb-agent-tls", "xpdb-ca"].includes(metadata.name));
				const objects = documents.map((document) => document.toJS() as ApiObject);
				applyManifests(cluster.controllers, [...objects, ...mounts]);
			};
			return { name, server, auditLog, client, certificates, install, peerAddress: agents.pods.peerAddress };
		}),
	);
	const kubeconfig = join(dir, "kubeconfig");
	const entries = clusters.map(({ name, server, certificates }) => ({
		context: name,
		cluster: name,
		server,
		authority: certificates.authority.certificate,
		user: "admin",
		credentials: certificates.pairs.admin,
	}));
	writeKubeconfig(kubeconfig, entries);
	const stack = opened.move();
	const xpdb = (args: readonly string[]) => runPlugin(programs.plugin, args, { KUBECONFIG: kubeconfig, HOME: dir });
	return {
		clusters,
		addresses: clusters.map(({ name, peerAddress }) => `--address=${name}=${peerAddress}`),
		xpdb,
		async install(flags) {
			const said = await xpdb(["install", ...flags, "--dry-run=client", `--output-dir=${manifests}`]);
			if (said.code !== 0) return said;
			const authority = await createAuthority("xpdb-fleet-ca");
			await Promise.all(clusters.map((cluster) => cluster.install(authority)));
			return said;
		},
		[Symbol.asyncDispose]: () => stack.disposeAsync(),
	};
}

async function runPlugin(plugin: string, args: readonly string[], env: Readonly<Record<string, string>>) {
	const child = spawn(process.execPath, [plugin, ...args], {
		env: { ...process.env, ...env },
		stdio: ["ignore", "pipe", "pipe"],
	});
	const said = { out: "", err: "" };
	child.stdout.setEncoding("utf8").on("data", (text: string) => void (said.out += text));
	child.stderr.setEncoding("utf8").on("data", (text: string) => void (said.err += text));
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	return { code, ...said };
}
