// Does what `kubectl create -f` does, inside a small cluster.
import { isRecord } from "../../disruption/record.ts";
import type { ControllerHost } from "./controllers/controller.ts";

interface Applicable {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: { readonly name: string; readonly namespace?: string };
	readonly spec?: unknown;
}

export function applyManifests(host: ControllerHost, manifests: readonly Applicable[]): void {
	const client = host.as("admin", ["system:masters"]);
	for (const manifest of manifests) {
		const type = host.core.types.find(
			({ kind, group, version }) =>
				kind === manifest.kind && manifest.apiVersion === (group === "" ? version : `${group}/${version}`),
		);
		if (!type || !isRecord(manifest)) throw new Error(`No API serves ${manifest.apiVersion} ${manifest.kind}`);
		client.create(type.key, type.namespaced ? (manifest.metadata.namespace ?? "default") : "", manifest);
	}
}
