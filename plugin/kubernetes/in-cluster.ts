// Finds the cluster of the pod that the plugin runs in. As in kubectl, it is used if neither the kubeconfig nor a flag chooses another
// (client-go, rest.InClusterConfig).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeconfigEntry } from "./kubeconfig-entry.ts";

/** In the form of a kubeconfig's entries. */
export interface OwnCluster {
	readonly cluster: KubeconfigEntry;
	readonly user: KubeconfigEntry;
	readonly context: KubeconfigEntry;
}

const mountedAt = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Undefined outside a pod, or if the pod has no token. `folder`: where the kubelet mounts the ServiceAccount's files. */
export function findOwnCluster(env: NodeJS.ProcessEnv, folder = mountedAt): OwnCluster | undefined {
	const host = env["KUBERNETES_SERVICE_HOST"] ?? "";
	const port = env["KUBERNETES_SERVICE_PORT"] ?? "";
	const tokenFile = join(folder, "token");
	if (host === "" || port === "" || !existsSync(tokenFile)) return undefined;
	return {
		cluster: {
			server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
			"certificate-authority": join(folder, "ca.crt"),
		},
		// Not the token itself, because the kubelet replaces it before it expires.
		user: { tokenFile },
		context: { namespace: env["POD_NAMESPACE"] || readNamespace(join(folder, "namespace")) },
	};
}

function readNamespace(path: string): string {
	return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}
