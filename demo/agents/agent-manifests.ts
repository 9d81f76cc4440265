import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import type { KeyPair } from "../machine/certificates.ts";
import { SetupError } from "../machine/setup-error.ts";

export type Manifest = {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: { readonly name: string; readonly namespace?: string };
	readonly type?: string;
	readonly data?: Readonly<Record<string, string>>;
};

export type FleetDeclaration = {
	readonly members: readonly { readonly id: string; readonly name: string; readonly address: string }[];
	readonly fleetCertificate: string;
	readonly agentPair: KeyPair;
};

const agentNamespace = "xpdb-system";

/** Returns the shipped manifests in the order to apply them, with this fleet's own objects instead of the samples. */
export function agentManifests(folder: string, fleet: FleetDeclaration): Manifest[] {
	const own = fleetObjects(fleet);
	const isOwn = (manifest: Manifest) =>
		own.some(({ kind, metadata }) => kind === manifest.kind && metadata.name === manifest.metadata.name);
	return [...readManifests(folder).filter((manifest) => !isOwn(manifest)), ...own].toSorted(
		(a, b) => rank(a) - rank(b),
	);
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

// The Deployment comes last, so that its pods find everything they need.
function rank(manifest: Manifest): number {
	const order = ["Namespace", "CustomResourceDefinition"];
	const at = order.indexOf(manifest.kind);
	return at === -1 ? (manifest.kind === "Deployment" ? order.length + 1 : order.length) : at;
}

/** Returns the objects that every installation must provide itself. */
function fleetObjects({ members, fleetCertificate, agentPair }: FleetDeclaration): Manifest[] {
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
