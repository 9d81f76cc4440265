// Runs agents in a cluster in which another program installs them. Changes to their Secret and ConfigMap reach their files, as with a
// kubelet.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentPods, type HostingCluster, startAgentPods } from "../../demo/agents/agent-pods.ts";
import { follow, type Listed } from "../../demo/machine/api-client.ts";
import type { RunningCluster } from "./cluster.ts";

export interface MountedAgents {
	readonly pods: AgentPods;
	/** Resolves when the files that the agents need to start exist. */
	mounted(): Promise<void>;
	stop(): Promise<void>;
}

interface Mounted extends Listed {
	readonly data?: Readonly<Record<string, string>>;
}

export async function startMountedAgents(
	cluster: HostingCluster & Pick<RunningCluster, "client">,
	{ program, namespace }: { readonly program: string; readonly namespace: string },
): Promise<MountedAgents> {
	const pods = await startAgentPods({
		cluster,
		program,
		namespace,
		fleetCertificate: "",
	});
	// Before the Secret and the ConfigMap exist, agents would end at once, again and again.
	pods.setRestarts(false);
	const dir = join(cluster.dir, "agents");
	const missing = new Set(["secrets", "configmaps"]);
	const waiting = new Set<() => void>();
	const abort = new AbortController();

	function bring(kind: string, object: Mounted | undefined): void {
		const { data } = object ?? {};
		if (kind === "configmaps") writeFileSync(join(dir, "fleet-ca.crt"), data?.["ca.crt"] ?? "");
		else if (data) pods.setCertificate({ certificate: decoded(data["tls.crt"]), key: decoded(data["tls.key"]) });
		else for (const file of ["tls.crt", "tls.key"]) rmSync(join(dir, file), { force: true });
		if (data) missing.delete(kind);
		else missing.add(kind);
		pods.setRestarts(missing.size === 0);
		if (missing.size > 0) return;
		for (const resolve of waiting) resolve();
		waiting.clear();
	}

	const followed = Object.entries({ secrets: "xpdb-agent-tls", configmaps: "xpdb-ca" }).map(([kind, name]) =>
		follow<Mounted>({
			client: cluster.client,
			path: `/api/v1/namespaces/${namespace}/${kind}?fieldSelector=metadata.name%3D${name}`,
			signal: abort.signal,
			onList: ([object]) => bring(kind, object),
			onEvent: ({ type, object }) => bring(kind, type === "DELETED" ? undefined : object),
		}),
	);
	return {
		pods,
		mounted: async () => {
			if (missing.size > 0) await new Promise<void>((resolve) => waiting.add(resolve));
		},
		async stop() {
			abort.abort();
			await Promise.all([pods.stop(), ...followed]);
		},
	};
}

function decoded(text = ""): string {
	return Buffer.from(text, "base64").toString();
}
