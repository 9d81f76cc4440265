// Marks a refusal by the proxy in front of an API server, so that it does not look like the server's own.
import { STATUS_CODES } from "node:http";

/** Returns an error that names the proxy, if the proxy refused. Otherwise returns the given error. `proxy`: its URL. */
export function explainProxyError(error: unknown, proxy: string): unknown {
	if (!(error instanceof Error) || !URL.canParse(proxy)) return error;
	const status = refusedWith(error);
	if (status === undefined) return error;
	// Leave out the password in the proxy's URL.
	const { protocol, host } = new URL(proxy);
	const words = `the proxy ${protocol}//${host} answered ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
	const hint =
		status === 407 ? ": put a user name and password into its URL (proxy-url in the kubeconfig, or HTTPS_PROXY)" : "";
	return new Error(words + hint, { cause: error });
}

/** Node's agent has an error code for this. The agent that client-node uses (hpagent) has only a message. */
function refusedWith(error: Error): number | undefined {
	if ("code" in error && error.code === "ERR_PROXY_TUNNEL") {
		return "statusCode" in error ? Number(error.statusCode) : undefined;
	}
	const [, status] = /^Bad response: (\d{3})$/.exec(error.message) ?? [];
	return status === undefined ? undefined : Number(status);
}
