// Clusters that have nothing of ours, for what the plugin makes of them by itself: with an administrator's context of each, and of each one
// for everybody else that a test names.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentPods, startAgentPods } from "../../demo/agents/agent-pods.ts";
import { type ApiClient, isStatus } from "../../demo/machine/api-client.ts";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { type Fleet, startFleet } from "../controlplane/fleet.ts";
import { createPodNetwork } from "../controlplane/kwok-pod-network.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually } from "./kubectl.ts";

export interface Said {
	readonly code: number | null;
	readonly out: string;
	readonly err: string;
}

export interface Person {
	readonly name: string;
	readonly group: string;
	/** From now; below 0 their certificate has expired. */
	readonly validForMs?: number;
}

export interface XpdbOptions {
	/** Added to the environment. */
	readonly env?: Readonly<Record<string, string>>;
	/** With each piece of the standard output. */
	readonly onOutput?: (text: string) => void;
}

export interface BareClusters extends AsyncDisposable {
	readonly fleet: Fleet;
	/** The plugin's file. */
	readonly program: string;
	xpdb(args: readonly string[], options?: XpdbOptions): Promise<Said>;
	/** Throws an Error with what it wrote to its standard error. */
	readonly kubectl: (context: string, args: readonly string[], stdin?: string) => string;
	/** Of the clusters, or of one person in them: "c1-dana,c2-dana". */
	contexts(person?: string): string;
	/** Every object of ours, of whatever kind. */
	readonly ours: (cluster: string) => readonly string[];
	/** --address of each cluster. */
	readonly addresses: readonly string[];
	/** The part of the kubelets that mounts what agents start with; resolves when all clusters have certificates. */
	bringCertificates(): Promise<void>;
}

const programs = join(repositoryRoot, "dist", "test");

export async function startBareClusters(count: number, people: readonly Person[] = []): Promise<BareClusters> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-bare-"));
	const fleet = await startFleet({ clusters: count, nodes: 1, dir, agents: false, oldest: sharedFleet().oldest });
	const kubeconfig = join(dir, "people");
	await writePeople(kubeconfig, fleet, people);
	const agents = await Promise.all(
		fleet.clusters.map(async (cluster) =>
			startAgentPods({
				cluster: { ...cluster, network: (client) => createPodNetwork(client, cluster) },
				program: join(programs, "agent.js"),
				fleetCertificate: "",
			}),
		),
	);
	// Without what is mounted into them they would end at once, again and again: they wait for it, as pods do.
	for (const pods of agents) pods.setRestarts(false);
	const program = join(programs, "kubectl-xpdb.js");
	const kubectl = (context: string, args: readonly string[], input?: string): string => {
		const { stdout, stderr, status } = spawnSync(
			fleet.binaries.kubectl,
			["--kubeconfig", kubeconfig, "--context", context, ...args],
			{ encoding: "utf8", ...(input !== undefined && { input }) },
		);
		if (status !== 0) throw new Error(stderr);
		return stdout;
	};
	return {
		fleet,
		program,
		kubectl,
		async xpdb(args, { env = {}, onOutput } = {}) {
			const child = spawn(process.execPath, [program, ...args], {
				env: { ...process.env, KUBECONFIG: kubeconfig, ...env },
				stdio: ["ignore", "pipe", "pipe"],
			});
			const said = { out: "", err: "" };
			child.stdout.setEncoding("utf8").on("data", (text: string) => {
				said.out += text;
				onOutput?.(text);
			});
			child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
			const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
			return { code, ...said };
		},
		contexts: (person) =>
			fleet.clusters.map(({ name }) => (person === undefined ? name : `${name}-${person}`)).join(","),
		ours(cluster) {
			const kinds = kubectl(cluster, ["api-resources", "--verbs=list", "-o", "name"]).trim().split("\n");
			const listed = kinds.filter((kind) => !kind.startsWith("events")).join(",");
			return kubectl(cluster, ["get", listed, "-A", "-o", "name", "--ignore-not-found"])
				.split("\n")
				.filter((line) => line.includes("xpdb"));
		},
		addresses: fleet.clusters.flatMap(({ name, address }) => ["--address", `${name}=${address}:8444`]),
		async bringCertificates() {
			const brought = fleet.clusters.map(async (cluster, index) => {
				await bringCertificates(cluster, agents[index]);
				agents[index]?.setRestarts(true);
			});
			await Promise.all(brought);
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(agents.map(async (pods) => pods.stop()));
			await fleet.stop();
			rmSync(dir, { recursive: true, force: true });
		},
	};
}

async function writePeople(path: string, { clusters }: Fleet, people: readonly Person[]): Promise<void> {
	const entries = clusters.map(async ({ name, server, certificates: { authority, pairs } }) => {
		const place = { cluster: name, server, authority: authority.certificate };
		const others = people.map(async (person) => ({
			...place,
			context: `${name}-${person.name}`,
			user: person.name,
			credentials: await authority.issue({
				commonName: person.name,
				organizations: [person.group],
				usages: ["client"],
				...(person.validForMs !== undefined && { validForMs: person.validForMs }),
			}),
		}));
		return [{ ...place, context: name, user: "admin", credentials: pairs.admin }, ...(await Promise.all(others))];
	});
	writeKubeconfig(path, (await Promise.all(entries)).flat());
}

async function bringCertificates(cluster: RunningCluster, pods: AgentPods | undefined): Promise<void> {
	const admin = createAdminClient(cluster);
	const place = "/api/v1/namespaces/xpdb-system";
	try {
		await eventually("a certificate for the agents", async () => {
			const [secret, map] = await Promise.all([
				readMounted(admin, `${place}/secrets/xpdb-agent-tls`),
				readMounted(admin, `${place}/configmaps/xpdb-ca`),
			]);
			if (!secret || !map) return false;
			writeFileSync(join(cluster.dir, "agents", "fleet-ca.crt"), map["ca.crt"] ?? "");
			const text = (key: string): string => Buffer.from(secret[key] ?? "", "base64").toString();
			pods?.setCertificate({ certificate: text("tls.crt"), key: text("tls.key") });
			return true;
		});
	} finally {
		admin.close();
	}
}

async function readMounted(admin: ApiClient, path: string): Promise<Readonly<Record<string, string>> | undefined> {
	try {
		const { data } = await admin.get<{ readonly data: Readonly<Record<string, string>> }>(path);
		return data;
	} catch (error) {
		if (isStatus(error, 404)) return undefined;
		throw error;
	}
}
