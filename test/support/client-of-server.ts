// Makes the plugin's client for a test's server.
import { readGlobalFlags } from "../../plugin/flags/global-flags.ts";
import { type Connection, resolveConnection } from "../../plugin/kubernetes/connection.ts";
import { createKubernetesClient, type KubernetesClient } from "../../plugin/kubernetes/kubernetes-client.ts";
import type { VerboseLog } from "../../plugin/terminal/verbose-log.ts";

const none = { clusters: new Map(), users: new Map(), contexts: new Map(), currentContext: "", ownCluster: undefined };

/** Returns a plain HTTP connection that sends the login, which the plugin otherwise sends only over TLS. */
function plainConnection(port: number, flags: Readonly<Record<string, unknown>>): Connection {
	const server = `http://127.0.0.1:${port}`;
	const globals = readGlobalFlags({ server: server.replace("http:", "https:"), ...flags });
	const connection = resolveConnection(none, undefined, globals, {});
	return { ...connection, server, cluster: { ...connection.cluster, server, skipTLSVerify: true } };
}

/** The caller must close the client. */
export function clientOfServer(
	port: number,
	flags: Readonly<Record<string, unknown>> = {},
	{ onWarning, log }: { readonly onWarning?: (message: string) => void; readonly log?: VerboseLog | undefined } = {},
): KubernetesClient {
	return createKubernetesClient(plainConnection(port, flags), onWarning, { log });
}
