// A refusal by the proxy on the way to an API server: it must not look like the server's own.
import { STATUS_CODES } from "node:http";

/** The error in the proxy's name, where it is one of these; otherwise as it was. `proxy`: its URL. */
export function explainProxyError(error: unknown, proxy: string): unknown {
	if (!(error instanceof Error) || !URL.canParse(proxy)) return error;
	const status = refusedWith(error);
	if (status === undefined) return error;
	// Its password is nobody's business.
	const { protocol, host } = new URL(proxy);
	const words = `the proxy ${protocol}//${host} answered ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
	const hint =
		status === 407 ? ": put a user name and password into its URL (proxy-url in the kubeconfig, or HTTPS_PROXY)" : "";
	return new Error(words + hint, { cause: error });
}

/** Node's agent has a code for it, the one that client-node takes (hpagent) only words. */
function refusedWith(error: Error): number | undefined {
	if ("code" in error && error.code === "ERR_PROXY_TUNNEL") {
		return "statusCode" in error ? Number(error.statusCode) : undefined;
	}
	const [, status] = /^Bad response: (\d{3})$/.exec(error.message) ?? [];
	return status === undefined ? undefined : Number(status);
}
