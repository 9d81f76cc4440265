// Reaches API servers whose kubeconfig has an IP address, directly and through each kind of proxy. The proxies have IP addresses too.
import { once } from "node:events";
import { createServer as createProxyServer } from "node:http";
import { createServer as createApiServer } from "node:https";
import { type AddressInfo, connect, createServer as createSocketServer, type Server } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { type Authority, createAuthority, type KeyPair } from "../../../demo/machine/certificates.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { createApiDialer } from "../../../plugin/kubernetes/api-dialer.ts";
import { resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { hasIpv6Loopback, whyWithoutIpv6 } from "../../support/ipv6-loopback.ts";
import { createSampleKubeconfig } from "./sample-kubeconfig.ts";

const { load } = createSampleKubeconfig("proxied-servers");
/** Reached only through proxies, which connect to the real one. */
const addresses = ["10.1.0.7", "fd00::7"];
let ours: Authority;
let pair: KeyPair;
beforeAll(async () => {
	ours = await createAuthority("ours");
	pair = await ours.issue({
		commonName: "server",
		ipAddresses: ["127.0.0.1", "::1", ...addresses],
		usages: ["server"],
	});
});

async function listen(server: Server, host: string): Promise<number> {
	server.listen(0, host);
	await once(server, "listening");
	onTestFinished(() => void server.close());
	return (server.address() as AddressInfo).port;
}

async function startServer(host: string): Promise<number> {
	const server = createApiServer({ cert: pair.certificate, key: pair.key }, (_, response) => response.end("{}"));
	const sockets = new WebSocketServer({ server });
	sockets.on("connection", (socket) => socket.close());
	return listen(server, host);
}

/** Starts a proxy that connects to the server whatever it is asked for. Returns its port and what it is asked for. */
async function startProxy(kind: "http" | "socks5", { host, serverPort }: { host: string; serverPort: number }) {
	const asked: string[] = [];
	const server = kind === "http" ? createProxyServer() : createSocketServer();
	const open = (target: string, answer: string | Buffer, socket: NodeJS.ReadWriteStream): void => {
		asked.push(target);
		const onward = connect(serverPort, "127.0.0.1", () => {
			socket.write(answer);
			onward.pipe(socket).pipe(onward);
		});
		for (const each of [socket, onward]) each.on("error", () => undefined);
	};
	server.on("connect", ({ url = "" }, socket) => open(url, "HTTP/1.1 200 OK\r\n\r\n", socket));
	if (kind === "socks5") {
		server.on("connection", (socket) => {
			socket.once("data", () => {
				socket.write(Buffer.from([5, 0]));
				// The kind of the address (1: IPv4, 3: a name, 4: IPv6), the address and the port.
				socket.once("data", (request: Buffer) => {
					open(request.subarray(3).toString("hex"), Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), socket);
				});
			});
		});
	}
	return { port: await listen(server, host), asked };
}

function bracketed(host: string): string {
	return host.includes(":") ? `[${host}]` : host;
}

/** Sends a request, and opens a WebSocket. Rejects with the first error. */
async function use(cluster: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}): Promise<void> {
	const files = {
		cluster: { ...cluster, "certificate-authority-data": Buffer.from(ours.certificate).toString("base64") },
	};
	const dialer = createApiDialer(resolveConnection(load(files), undefined, readGlobalFlags({}), env));
	onTestFinished(() => dialer.close());
	expect(await dialer.exchange({ method: "GET", path: "/x", headers: {} })).toMatchObject({ code: 200 });
	const socket = await dialer.webSocket("/x", "v4.channel.k8s.io");
	await Promise.race([once(socket, "open"), once(socket, "error").then(([error]) => Promise.reject(error))]);
}

const wire = {
	"10.1.0.7": { http: "10.1.0.7:6443", socks5: "010a010007192b" },
	"fd00::7": { http: "[fd00::7]:6443", socks5: "04fd000000000000000000000000000007192b" },
};

describe.skipIf(!hasIpv6Loopback)(`an API server with an IP address${whyWithoutIpv6}`, () => {
	for (const host of ["127.0.0.1", "::1"]) {
		test(`answers at ${host}`, async () => {
			const server = `https://${bracketed(host)}:${await startServer(host)}`;
			await expect(use({ server })).resolves.toBeUndefined();
		});
		for (const target of ["10.1.0.7", "fd00::7"] as const) {
			for (const kind of ["http", "socks5"] as const) {
				for (const from of ["proxy-url", "environment"] as const) {
					test(`answers at ${target}, through an ${kind} proxy at ${host} from the ${from}`, async () => {
						const { port, asked } = await startProxy(kind, { host, serverPort: await startServer("127.0.0.1") });
						const proxy = `${kind}://${bracketed(host)}:${port}`;
						const server = `https://${bracketed(target)}:6443`;
						if (from === "proxy-url") await use({ server, "proxy-url": proxy });
						else await use({ server }, { HTTPS_PROXY: proxy });
						expect(new Set(asked)).toEqual(new Set([wire[target][kind]]));
					});
				}
			}
		}
	}

	test("is refused through a SOCKS proxy if its certificate has another address", async () => {
		const { port } = await startProxy("socks5", { host: "::1", serverPort: await startServer("127.0.0.1") });
		const refused = use({ server: "https://[fd00::8]:6443", "proxy-url": `socks5://[::1]:${port}` });
		await expect(refused).rejects.toThrow("fd00::8");
	});
});
