import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { agentManifests, type FleetDeclaration } from "../../demo/agents/agent-manifests.ts";
import { SetupError } from "../../demo/machine/setup-error.ts";
import type { RunningCluster } from "./cluster.ts";

export type AgentInstallation = FleetDeclaration & {
	readonly cluster: RunningCluster;
	readonly kubectl: string;
	readonly manifests: string;
};

/** Applies the shipped manifests with the values of this fleet, such as its CA and the addresses of its members. */
export async function installAgents(installation: AgentInstallation): Promise<void> {
	const { cluster, manifests } = installation;
	const documents = agentManifests(manifests, installation);
	const path = join(cluster.dir, "agents.yaml");
	writeFileSync(path, documents.map((manifest) => stringify(manifest)).join("---\n"), { mode: 0o600 });
	await kubectlApply(installation, path);
}

async function kubectlApply(installation: AgentInstallation, path: string): Promise<void> {
	const { cluster, kubectl } = installation;
	const child = spawn(
		kubectl,
		["--kubeconfig", cluster.kubeconfigPath, "apply", "--server-side", "--field-manager=xpdb-fleet", "-f", path],
		{ stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env["PATH"] ?? "", HOME: join(cluster.dir, "home") } },
	);
	let output = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		output += text;
	});
	const code = await new Promise<number | null>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
	if (code !== 0) {
		throw new SetupError(`Cannot install the agents in ${cluster.name}: kubectl apply ended with code ${code}`, {
			hint: `${output.trim()}\nThe manifests as applied: ${path}`,
		});
	}
}
