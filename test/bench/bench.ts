// Starts the clusters for the measurements, with the shipped programs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ApiClient, createApiClient } from "../../demo/machine/api-client.ts";
import { writePluginLauncher } from "../../demo/machine/plugin-launcher.ts";
import { readGlobalFlags } from "../../plugin/flags/global-flags.ts";
import { loadKubeconfig } from "../../plugin/kubernetes/kubeconfig.ts";
import { text } from "../../plugin/kubernetes/kubeconfig-entry.ts";
import { type Fleet, type FleetOptions, startFleet } from "../controlplane/fleet.ts";

export interface Bench {
	readonly fleet: Fleet;
	/** One client per cluster, with the operator's rights and, in a fleet with links, over the plugin's links. */
	readonly operators: readonly ApiClient[];
	/** Whether only to test that the measurement works: with fewer pods and without warming up. */
	readonly isSmall: boolean;
	readonly log: (line: string) => void;
	stop(): Promise<void>;
}

export async function startBench(
	options: Pick<FleetOptions, "clusters" | "nodes" | "links" | "agentEnvironment" | "signal"> & {
		readonly log: (line: string) => void;
		readonly plugin?: string | undefined;
		readonly isSmall?: boolean;
	},
): Promise<Bench> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-bench-"));
	const remove = (): void => rmSync(dir, { recursive: true, force: true });
	try {
		const fleet = await startFleet({ ...options, dir });
		if (options.plugin !== undefined) writePluginLauncher(dir, resolve(options.plugin));
		const { clusters } = loadKubeconfig(readGlobalFlags({ kubeconfig: fleet.kubeconfigPath }), {});
		const operators = fleet.clusters.map(({ name, server, certificates }) =>
			createApiClient({
				server: text(clusters.get(`${name}-linked`)?.["server"]) || server,
				authority: certificates.authority.certificate,
				credentials: certificates.pairs.operator,
			}),
		);
		return {
			fleet,
			operators,
			isSmall: options.isSmall ?? false,
			log: options.log,
			async stop() {
				for (const client of operators) client.close();
				await fleet.stop();
				remove();
			},
		};
	} catch (error) {
		remove();
		throw error;
	}
}
