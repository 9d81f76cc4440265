import { spawn } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import type { KeyPair } from "./certificates.ts";
import type { RunningCluster } from "./cluster.ts";
import { SetupError } from "./setup-error.ts";

type Manifest = {
	apiVersion: string;
	kind: string;
	metadata: { name: string; namespace?: string };
	type?: string;
	data?: Record<string, string>;
	webhooks?: { clientConfig: { service?: { path?: string }; url?: string; caBundle?: string } }[];
};

export type AgentInstallation = {
	readonly cluster: RunningCluster;
	readonly kubectl: string;
	/** The folder of the shipped manifests. */
	readonly manifests: string;
	readonly members: readonly { readonly id: string; readonly name: string; readonly address: string }[];
	readonly fleetCertificate: string;
	readonly agentPair: KeyPair;
	/** Installs the admission webhooks too. */
	readonly guard: boolean;
};

const agentNamespace = "xpdb-system";

/** Applies the shipped manifests as a person would, with the addresses and the CA of this fleet filled in and nothing else changed. */
export async function installAgents(installation: AgentInstallation): Promise<void> {
	const { cluster } = installation;
	const shipped = readManifests(installation.manifests).filter(
		(manifest) => installation.guard || manifest.webhooks === undefined,
	);
	const own = fleetObjects(installation);
	const documents = [
		...shipped
			.filter((manifest) => !own.some((object) => isSame(object, manifest)))
			.map((manifest) => fillIn(manifest, installation)),
		...own,
	];
	const path = join(cluster.dir, "agents.yaml");
	writeFileSync(
		path,
		documents
			.toSorted((a, b) => rank(a) - rank(b))
			.map((manifest) => stringify(manifest))
			.join("---\n"),
		{
			mode: 0o600,
		},
	);
	await kubectlApply(installation, path);
}

function readManifests(folder: string): Manifest[] {
	const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.ya?ml$/.test(file));
	const manifests = files.toSorted().flatMap((file) =>
		parseAllDocuments(readFileSync(join(folder, file), "utf8"))
			.map((document) => document.toJS() as Manifest | null)
			.filter((manifest) => manifest !== null && manifest.kind !== "Kustomization")
			.map((manifest) => manifest as Manifest),
	);
	if (manifests.length === 0) {
		throw new SetupError(`Cannot install the agents: there are no manifests in "${folder}"`);
	}
	return manifests;
}

// Namespace and kinds first, as the shipped files say to apply them; the Deployment last, so that its pods find all they need.
function rank(manifest: Manifest): number {
	const order = ["Namespace", "CustomResourceDefinition"];
	const at = order.indexOf(manifest.kind);
	return at === -1 ? (manifest.kind === "Deployment" ? order.length + 1 : order.length) : at;
}

function isSame(a: Manifest, b: Manifest): boolean {
	return a.kind === b.kind && a.metadata.name === b.metadata.name;
}

function fillIn(manifest: Manifest, installation: AgentInstallation): Manifest {
	const { cluster, fleetCertificate } = installation;
	if (manifest.webhooks !== undefined) {
		// No kube-proxy gives the Service an address here, and EndpointSlices refuse loopback ones.
		const webhooks = manifest.webhooks.map((webhook) => ({
			...webhook,
			clientConfig: {
				url: `https://${cluster.address}:8443${webhook.clientConfig.service?.path ?? "/"}`,
				caBundle: base64(fleetCertificate),
			},
		}));
		return { ...manifest, webhooks };
	}
	return manifest;
}

/** What every installation must bring itself: who is in the fleet, its CA, and a certificate for the agents. */
function fleetObjects({ members, fleetCertificate, agentPair }: AgentInstallation): Manifest[] {
	const object = (kind: string, name: string, data: Record<string, string>): Manifest => ({
		apiVersion: "v1",
		kind,
		metadata: { name, namespace: agentNamespace },
		data,
	});
	const pair = { "tls.crt": base64(agentPair.certificate), "tls.key": base64(agentPair.key) };
	return [
		object("ConfigMap", "xpdb-fleet", { members: stringify(members) }),
		object("ConfigMap", "xpdb-ca", { "ca.crt": fleetCertificate }),
		{ ...object("Secret", "xpdb-agent-tls", pair), type: "kubernetes.io/tls" },
	];
}

function base64(text: string): string {
	return Buffer.from(text).toString("base64");
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
