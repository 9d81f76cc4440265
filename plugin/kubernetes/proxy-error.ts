// Distinguishes a refusal by the proxy from one by the API server behind it.
import { STATUS_CODES } from "node:http";

/** Returns the given error, unless the proxy refused. */
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

/** Node's agent sets an error code. client-node's agent (hpagent) has only a message. */
function refusedWith(error: Error): number | undefined {
	if ("code" in error && error.code === "ERR_PROXY_TUNNEL") {
		return "statusCode" in error ? Number(error.statusCode) : undefined;
	}
	const [, status] = /^Bad response: (\d{3})$/.exec(error.message) ?? [];
	return status === undefined ? undefined : Number(status);
}
