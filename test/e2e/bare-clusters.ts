// Starts clusters without xpdb, with contexts for an administrator and for each person that a test names.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { shippedExecutable } from "../support/shipped-executable.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { type Fleet, startFleet } from "../controlplane/fleet.ts";
import { openIpv6Way, type WayToCluster } from "../controlplane/ipv6-way.ts";
import { createPodNetwork } from "../controlplane/kwok-pod-network.ts";
import { listObjects } from "../controlplane/list-objects.ts";
import { startMountedAgents } from "../controlplane/mounted-agents.ts";
import { oldestOfOwnFleet } from "../controlplane/shared-fleet.ts";

export interface Said {
	readonly code: number | null;
	readonly out: string;
	readonly err: string;
}

export interface Person {
	readonly name: string;
	readonly group: string;
	/** A negative value makes an expired certificate. */
	readonly validForMs?: number;
}

export interface XpdbOptions {
	readonly env?: Readonly<Record<string, string>>;
	/** Called with all output so far, whenever there is more. */
	readonly onSaid?: (said: Omit<Said, "code">) => void;
}

export interface BareOptions {
	/** Per cluster. */
	readonly nodes?: number;
	/** Whether to run the shipped plugin and agents. By default they have fail points. */
	readonly shipped?: boolean;
	readonly agentNamespace?: string;
	/** The agents listen on ::1, and they and all people reach the API servers there. */
	readonly onIpv6?: boolean;
}

export interface BareClusters extends AsyncDisposable {
	readonly fleet: Fleet;
	readonly program: string;
	xpdb(args: readonly string[], options?: XpdbOptions): Promise<Said>;
	/** Returns the output. Throws an Error with the standard error if kubectl fails. */
	readonly kubectl: (context: string, args: readonly string[], stdin?: string) => string;
	/** Returns the contexts of all clusters, for the administrator or for one person, such as "c1-dana,c2-dana". */
	contexts(person?: string): string;
	/** Returns every object whose name contains "xpdb", such as "secrets xpdb-agent-tls". */
	readonly ours: (cluster: string) => Promise<readonly string[]>;
	/** The --address flags of all clusters. */
	readonly addresses: readonly string[];
	/** Resolves when the agents of all clusters have the certificates that an installation creates. */
	bringCertificates(): Promise<void>;
}

const programs = join(repositoryRoot, "dist");

export async function startBareClusters(
	count: number,
	people: readonly Person[] = [],
	{ nodes = 1, shipped = false, agentNamespace = "xpdb-system", onIpv6 = false }: BareOptions = {},
): Promise<BareClusters> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-bare-"));
	const building = shipped ? shippedExecutable() : join(programs, "test", "kubectl-xpdb.js");
	const starting = startFleet({ clusters: count, nodes, dir, agents: false, oldest: oldestOfOwnFleet(count) });
	const [fleet, program] = await Promise.all([starting, building]).catch(async (error: unknown) => {
		await (await starting).stop();
		throw error;
	});
	const reached = await Promise.all(
		fleet.clusters.map(async (cluster) => {
			const way = onIpv6 ? await openIpv6Way(cluster) : ipv4Way(cluster);
			return { ...cluster, ...way };
		}),
	);
	const kubeconfig = join(dir, "people");
	await writePeople(kubeconfig, reached, people);
	const mounted = { program: join(programs, ...(shipped ? [] : ["test"]), "agent.js"), namespace: agentNamespace };
	const agents = await Promise.all(reached.map((cluster) => startMountedAgents(cluster, mounted)));
	const command = shipped ? [program] : [process.execPath, program];
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
		async xpdb(args, { env = {}, onSaid } = {}) {
			const [file = "", ...words] = command;
			const child = spawn(file, [...words, ...args], {
				env: { ...process.env, KUBECONFIG: kubeconfig, ...env },
				stdio: ["ignore", "pipe", "pipe"],
			});
			const said = { out: "", err: "" };
			for (const [stream, text] of [
				[child.stdout, "out"],
				[child.stderr, "err"],
			] as const) {
				stream.setEncoding("utf8").on("data", (more: string) => {
					said[text] += more;
					onSaid?.(said);
				});
			}
			const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
			return { code, ...said };
		},
		contexts: (person) =>
			fleet.clusters.map(({ name }) => (person === undefined ? name : `${name}-${person}`)).join(","),
		async ours(cluster) {
			const client = fleet.clusters.find(({ name }) => name === cluster)?.client;
			if (!client) throw new Error(`There is no cluster ${cluster}`);
			const listed = await listObjects(client);
			return listed.map((object) => object.replace(/ \S+\//, " ")).filter((object) => / .*xpdb/.test(object));
		},
		addresses: fleet.clusters.flatMap(({ name }, at) => ["--address", `${name}=${agents[at]?.pods.peerAddress}`]),
		async bringCertificates() {
			await Promise.all(agents.map((each) => each.mounted()));
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(agents.map((each) => each.stop()));
			await Promise.all(reached.map((cluster) => cluster.close()));
			await fleet.stop();
			rmSync(dir, { recursive: true, force: true });
		},
	};
}

/** Reaches the cluster where it listens. */
function ipv4Way(cluster: RunningCluster): WayToCluster {
	return {
		server: cluster.server,
		network: (client) => createPodNetwork(client, cluster),
		close: () => Promise.resolve(),
	};
}

async function writePeople(
	path: string,
	clusters: readonly Pick<RunningCluster, "name" | "server" | "certificates">[],
	people: readonly Person[],
): Promise<void> {
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
