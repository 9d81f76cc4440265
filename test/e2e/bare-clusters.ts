// Clusters that have nothing of ours, for what the plugin makes of them by itself: with an administrator's context of each, and of each one
// for everybody else that a test names.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { shippedExecutable } from "../support/shipped-executable.ts";
import { type Fleet, startFleet } from "../controlplane/fleet.ts";
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
	/** From now; below 0 their certificate has expired. */
	readonly validForMs?: number;
}

export interface XpdbOptions {
	/** Added to the environment. */
	readonly env?: Readonly<Record<string, string>>;
	/** With all that it has said so far, each time that it says more. */
	readonly onSaid?: (said: Omit<Said, "code">) => void;
}

export interface BareOptions {
	/** In each cluster; one, unless said otherwise. */
	readonly nodes?: number;
	/** Plugin and agents as they are shipped, the plugin as one file, in the place of those with fail points. */
	readonly shipped?: boolean;
	/** Where the agents are to be, if not in xpdb-system. */
	readonly agentNamespace?: string;
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
	/** Every object with a name of ours, of whatever kind: "secrets xpdb-agent-tls". */
	readonly ours: (cluster: string) => Promise<readonly string[]>;
	/** --address of each cluster. */
	readonly addresses: readonly string[];
	/** Resolves when all clusters have certificates for the agents, which are brought to them by themselves. */
	bringCertificates(): Promise<void>;
}

const programs = join(repositoryRoot, "dist");

export async function startBareClusters(
	count: number,
	people: readonly Person[] = [],
	{ nodes = 1, shipped = false, agentNamespace = "xpdb-system" }: BareOptions = {},
): Promise<BareClusters> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-bare-"));
	const building = shipped ? shippedExecutable() : join(programs, "test", "kubectl-xpdb.js");
	const starting = startFleet({ clusters: count, nodes, dir, agents: false, oldest: oldestOfOwnFleet(count) });
	const [fleet, program] = await Promise.all([starting, building]).catch(async (error: unknown) => {
		await (await starting).stop();
		throw error;
	});
	const kubeconfig = join(dir, "people");
	await writePeople(kubeconfig, fleet, people);
	const mounted = { program: join(programs, ...(shipped ? [] : ["test"]), "agent.js"), namespace: agentNamespace };
	const agents = await Promise.all(fleet.clusters.map((cluster) => startMountedAgents(cluster, mounted)));
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
		addresses: fleet.clusters.flatMap(({ name, address }) => ["--address", `${name}=${address}:8444`]),
		async bringCertificates() {
			await Promise.all(agents.map((each) => each.mounted()));
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(agents.map((each) => each.stop()));
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
