// /healthz, /readyz and /metrics over plain HTTP, for kubelets and Prometheus; nothing here tells more than they need.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type Address, formatAddress } from "./config.ts";
import type { Readiness } from "./readiness.ts";

interface HealthOptions {
	readonly address: Address;
	readonly readiness: Pick<Readiness, "reasons">;
	readonly metrics: { readonly contentType: string; metrics(): Promise<string> };
}

interface HealthServer {
	readonly port: number;
	close(): Promise<void>;
}

/** Listens; rejects where it cannot. */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
	const server = createServer(createListener(options));
	await new Promise<void>((resolve, reject) => {
		server.once("error", (error) => {
			reject(new Error(`Cannot listen on ${formatAddress(options.address)}: ${error.message}`, { cause: error }));
		});
		server.listen(options.address.port, options.address.host, resolve);
	});
	const address = server.address();
	return {
		port: isAddressInfo(address) ? address.port : options.address.port,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

function createListener({ readiness, metrics }: HealthOptions): RequestListener {
	return (request, response) => {
		const answer = (status: number, text: string, type = "text/plain; charset=utf-8"): void => {
			response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(text);
		};
		if (request.method !== "GET" && request.method !== "HEAD") {
			answer(405, "Only GET\n");
			return;
		}
		const [path = ""] = (request.url ?? "").split("?");
		switch (path) {
			case "/healthz":
				answer(200, "ok\n");
				break;
			case "/readyz": {
				const { reasons } = readiness;
				answer(reasons.length === 0 ? 200 : 503, reasons.length === 0 ? "ok\n" : `${reasons.join("\n")}\n`);
				break;
			}
			case "/metrics":
				metrics.metrics().then(
					(text) => answer(200, text, metrics.contentType),
					() => answer(500, "Cannot collect metrics\n"),
				);
				break;
			default:
				answer(404, "There are /healthz, /readyz and /metrics\n");
		}
	};
}

function isAddressInfo(address: string | AddressInfo | null): address is AddressInfo {
	return typeof address === "object" && address !== null;
}
