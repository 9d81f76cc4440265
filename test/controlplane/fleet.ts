import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { join, resolve } from "node:path";
import type { AgentPods } from "../../demo/agents/agent-pods.ts";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { startAgents } from "./agents.ts";
import type { Binaries } from "./binaries.ts";
import { findOrBuildBinaries, findOrBuildOldest } from "./binaries.ts";
import type { RunningCluster } from "./cluster.ts";
import { buildPrograms } from "./build-programs.ts";
import { startCluster } from "./cluster.ts";
import type { FleetControl } from "./fleet-control.ts";
import { createFleetControl, serveFleetControl } from "./fleet-control.ts";
import { prepareFleetDir, writeFleetState, writePrograms } from "./fleet-dir.ts";
import { AddressInUseError } from "./fleet-errors.ts";
import type { Links } from "./links.ts";
import { startLinks } from "./links.ts";
import type { Octet } from "./octet.ts";
import { claimOctet } from "./octet.ts";

export type FleetOptions = {
	readonly clusters: number;
	readonly nodes: number;
	readonly dir: string;
	/** The second octet of the fleet's addresses. By default the first free one. */
	readonly octet?: number;
	readonly agents?: boolean;
	/** Whether the agent and the plugin have fail points (dist/test). */
	readonly failPoints?: boolean;
	/** Whether to rebuild the agent and the plugin if their sources have changed. Otherwise, they are built only if one is missing. */
	readonly isFresh?: boolean;
	readonly agentEnvironment?: Readonly<Record<string, string>>;
	/** Whether operators and agents connect through links, which FleetControl.setLink() changes. */
	readonly links?: boolean;
	/** The names of the clusters that run the oldest supported Kubernetes. */
	readonly oldest?: readonly string[];
	readonly log?: (line: string) => void;
	readonly signal?: AbortSignal;
};

export type Fleet = {
	readonly dir: string;
	readonly octet: number;
	/** The administrator's contexts: c1, c2 and so on. With "-operator" appended, they are those of alice in the group xpdb-operators. */
	readonly contexts: readonly string[];
	readonly kubeconfigPath: string;
	readonly binaries: Binaries;
	readonly clusters: readonly RunningCluster[];
	/** In the order of the clusters. */
	readonly agents: readonly AgentPods[];
	/** For this process. Others use connectFleet(octet). */
	readonly control: FleetControl;
	stop(): Promise<void>;
};

// The pod range of a cluster is 10.<200 + index>.0.0/16, which limits the index.
const maximumClusters = 50;

/** Starts all clusters at once, then their agents. If any part fails, stops everything. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
	if (options.clusters < 1 || options.clusters > maximumClusters) {
		throw new SetupError(`Cannot start ${options.clusters} clusters: 1 to ${maximumClusters} are possible`);
	}
	const log = options.log ?? (() => undefined);
	const dir = resolve(options.dir);
	await prepareFleetDir(dir);
	const binaries = await findOrBuildBinaries({ log });
	const oldest = options.oldest?.length ? await findOrBuildOldest(binaries, { log }) : binaries;
	const programsDir = join(repositoryRoot, "dist", ...(options.failPoints === true ? ["test"] : []));
	const programs =
		options.agents === false ? undefined : buildPrograms(programsDir, { ifOld: options.isFresh === true, log });
	// Awaited later. Until then, a failure must not end the process.
	programs?.catch(() => undefined);
	const { octet, clusters } = await startClusters({
		...options,
		dir,
		log,
		binariesOf: (name) => (options.oldest?.includes(name) ? oldest : binaries),
	});
	const agents: AgentPods[] = [];
	let ordered: readonly AgentPods[] = [];
	let links: Links | undefined;
	const control = createFleetControl(() => ({
		clusters,
		agents: ordered,
		...(links === undefined ? {} : { links: links.byName }),
	}));
	let server: Server | undefined;
	const stop = async () => {
		rmSync(join(dir, "ready"), { force: true });
		server?.close();
		await Promise.all(agents.map((pods) => pods.stop()));
		await links?.close();
		await Promise.all(clusters.map((cluster) => cluster.stop()));
		await octet.release();
	};
	try {
		links = options.links === true ? await startLinks(clusters) : undefined;
		server = await serveFleetControl(control, octet.value);
		const kubeconfigPath = join(dir, "kubeconfig");
		writeKubeconfig(kubeconfigPath, kubeconfigEntries(clusters, links));
		writePrograms(dir, binaries, programsDir);
		cpSync(join(repositoryRoot, "demo", "database.yaml"), join(dir, "demo.yaml"));
		writeState(dir, octet, clusters);
		if (programs !== undefined) {
			await programs;
			log("Installing the agents");
			ordered = await startAgents({
				clusters,
				binaries,
				dir,
				programs: programsDir,
				...(links === undefined ? {} : { links }),
				...(options.agentEnvironment === undefined ? {} : { environment: options.agentEnvironment }),
				...(options.signal === undefined ? {} : { signal: options.signal }),
				onStarted: (pods) => agents.push(pods),
			});
		}
		writeFileSync(join(dir, "ready"), "");
		return {
			dir,
			octet: octet.value,
			contexts: clusters.map((cluster) => cluster.name),
			kubeconfigPath,
			binaries,
			clusters,
			agents: ordered,
			control,
			stop,
		};
	} catch (error) {
		await stop();
		throw error;
	}
}

function writeState(dir: string, octet: Octet, clusters: readonly RunningCluster[]): void {
	writeFleetState(dir, {
		pid: process.pid,
		octet: octet.value,
		clusters: clusters.map(({ name, id, address, dir: folder }) => ({ name, id, address, dir: folder })),
	});
}

// Only operators and agents use the links, so that tests can observe the fleet without them.
function kubeconfigEntries(clusters: readonly RunningCluster[], links: Links | undefined) {
	const serverOf = (cluster: RunningCluster, user: "admin" | "operator") => {
		if (user === "admin" || links === undefined) return cluster.server;
		const { host, port } = links.near(`plugin->${cluster.name}`);
		return `https://${host}:${port}`;
	};
	return (["admin", "operator"] as const).flatMap((user) =>
		clusters.map((cluster) => ({
			context: user === "admin" ? cluster.name : `${cluster.name}-operator`,
			cluster: user === "admin" || links === undefined ? cluster.name : `${cluster.name}-linked`,
			server: serverOf(cluster, user),
			authority: cluster.certificates.authority.certificate,
			user,
			credentials: cluster.certificates.pairs[user],
		})),
	);
}

type ClustersOptions = FleetOptions & {
	readonly dir: string;
	readonly binariesOf: (cluster: string) => Binaries;
	readonly log: (line: string) => void;
};

async function startClusters(options: ClustersOptions): Promise<{ octet: Octet; clusters: RunningCluster[] }> {
	let from: number | undefined;
	for (;;) {
		const octet = await claimOctet({
			...(options.octet === undefined ? {} : { octet: options.octet }),
			...(from === undefined ? {} : { from }),
		});
		writeState(options.dir, octet, []);
		options.log(
			`Starting ${options.clusters} x etcd, API server, controllers, scheduler and kwok, from 127.${octet.value}.1.1 on`,
		);
		try {
			return { octet, clusters: await startAll(options, octet.value) };
		} catch (error) {
			await octet.release();
			if (!(error instanceof AddressInUseError) || options.octet !== undefined) {
				throw error;
			}
			// A program that claims no octet uses the address, for example one left by an earlier run.
			options.log(`${error.message}; trying the next`);
			from = octet.value + 1;
			for (const entry of readdirSync(options.dir).filter((name) => /^c\d+$/.test(name))) {
				rmSync(join(options.dir, entry), { recursive: true, force: true });
			}
		}
	}
}

async function startAll(options: ClustersOptions, octet: number) {
	// If one cluster fails, the others stop starting.
	const abort = new AbortController();
	const signal = options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, options.signal]);
	const results = await Promise.allSettled(
		Array.from({ length: options.clusters }, async (_, number) => {
			const startedAt = performance.now();
			try {
				const cluster = await startCluster({
					binaries: options.binariesOf(`c${number + 1}`),
					octet,
					index: number + 1,
					nodes: options.nodes,
					dir: join(options.dir, `c${number + 1}`),
					signal,
				});
				options.log(`${cluster.name} is ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
				return cluster;
			} catch (error) {
				abort.abort(error);
				throw error;
			}
		}),
	);
	const clusters = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
	if (clusters.length < options.clusters) {
		await Promise.all(clusters.map((cluster) => cluster.stop()));
		throw abort.signal.reason ?? options.signal?.reason;
	}
	return clusters;
}
