// Makes a cluster stop answering at a chosen write, so that a test knows what was written before. The plugin reaches it through a proxy.
import { join } from "node:path";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { startApiProxy } from "../controlplane/api-proxy.ts";
import type { BareClusters } from "./bare-clusters.ts";

const proxyPort = 7_520;

export interface DyingCluster extends AsyncDisposable {
	/** Has the contexts of all clusters. The context of the dying cluster goes through the proxy. */
	readonly kubeconfig: string;
	/**
	 * Makes the cluster stop answering at the next write of this kind, such as "PATCH deployments". "dropped": the write never arrives.
	 * "lost": it is executed, but not answered.
	 */
	dieAt(write: string, fault: "dropped" | "lost"): void;
	revive(): void;
}

export async function startDyingCluster({ fleet }: BareClusters, name: string): Promise<DyingCluster> {
	const dying = fleet.clusters.find((cluster) => cluster.name === name);
	if (!dying) throw new Error(`There is no cluster ${name}`);
	const endpoint = { host: new URL(dying.server).hostname, port: proxyPort };
	const proxy = await startApiProxy(dying, endpoint, { as: "admin" });
	const kubeconfig = join(fleet.dir, `dying-${name}`);
	writeKubeconfig(
		kubeconfig,
		fleet.clusters.map((cluster) => ({
			context: cluster.name,
			cluster: cluster.name,
			server: cluster === dying ? `https://${endpoint.host}:${endpoint.port}` : cluster.server,
			authority: cluster.certificates.authority.certificate,
			user: "admin",
			credentials: cluster.certificates.pairs.admin,
		})),
	);
	return {
		kubeconfig,
		dieAt(write, fault) {
			let isDead = false;
			proxy.onCall = ({ kind, isDryRun }) => {
				if (isDead) return "dropped";
				isDead = kind === write && !isDryRun;
				return isDead ? fault : undefined;
			};
		},
		revive() {
			proxy.onCall = () => undefined;
		},
		[Symbol.asyncDispose]: () => proxy.close(),
	};
}
