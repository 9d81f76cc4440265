// The plugin's client of a server that a test has started.
import { readGlobalFlags } from "../../plugin/flags/global-flags.ts";
import { resolveConnection } from "../../plugin/kubernetes/connection.ts";
import { createKubernetesClient, type KubernetesClient } from "../../plugin/kubernetes/kubernetes-client.ts";

/** Must be closed. */
export function clientOfServer(
	port: number,
	flags: Readonly<Record<string, unknown>> = {},
	onWarning?: (message: string) => void,
): KubernetesClient {
	const kubeconfig = {
		clusters: new Map(),
		users: new Map(),
		contexts: new Map(),
		currentContext: "",
		ownCluster: undefined,
	};
	const globals = readGlobalFlags({ server: `http://127.0.0.1:${port}`, ...flags });
	return createKubernetesClient(resolveConnection(kubeconfig, undefined, globals, {}), onWarning);
}
