// Tests to which servers the plugin sends credentials, whatever Node's environment variables say. Processes and TLS servers are real.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createPlainServer, type IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, type Server as NetServer, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Authority, createAuthority, type KeyPair } from "../../../demo/machine/certificates.ts";
import { createApiDialer } from "../../../plugin/kubernetes/api-dialer.ts";
import { askForUnverifiedTls } from "../../support/unverified-tls.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-verified-"));
const program = join(import.meta.dirname, "../../../plugin/main.ts");
const unverified = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };

let fleet: Authority;
let stranger: Authority;
/** The stranger's certificate. Its CA is in no kubeconfig. */
let pair: KeyPair;
/** A certificate of a CA that nothing trusts. */
let pairOfNobody: KeyPair;
/** What reached a server after its TLS handshake. */
let heard: string[];

beforeAll(async () => {
	[fleet, stranger] = await Promise.all([createAuthority("fleet"), createAuthority("stranger")]);
	pair = await stranger.issue({
		commonName: "server",
		dnsNames: ["stranger.example"],
		ipAddresses: ["127.0.0.1"],
		usages: ["server"],
	});
	const nobody = await createAuthority("nobody");
	pairOfNobody = await nobody.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], usages: ["server"] });
	writeFileSync(join(folder, "stranger.crt"), stranger.certificate);
});
beforeEach(() => {
	heard = [];
});
afterAll(() => rmSync(folder, { recursive: true }));

async function listen(server: NetServer): Promise<number> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => void server.close());
	return (server.address() as AddressInfo).port;
}

function hear({ method, url, headers }: IncomingMessage): void {
	heard.push(`${method} ${url} ${headers.authorization ?? headers["proxy-authorization"] ?? ""}`.trim());
}

/** Starts a TLS server that records its requests. By default, it has the stranger's certificate. */
async function startStranger({ certificate: cert, key } = pair): Promise<number> {
	const server = createServer({ cert, key }, (request, response) => {
		hear(request);
		response.setHeader("content-type", "application/json").end("{}");
	});
	server.on("connect", (request, socket) => {
		hear(request);
		socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
	});
	server.on("upgrade", (request, socket) => {
		hear(request);
		socket.end();
	});
	server.on("tlsClientError", () => undefined);
	return listen(server);
}

interface Entries {
	readonly cluster: Readonly<Record<string, unknown>>;
	readonly user?: Readonly<Record<string, unknown>>;
}

/** Returns what the plugin prints for the versions of these clusters, by context. */
function askVersions(
	contexts: Readonly<Record<string, Entries>>,
	env: Readonly<Record<string, string>>,
): Promise<string> {
	const kubeconfig = join(folder, "kubeconfig.json");
	const names = Object.keys(contexts);
	const config = {
		apiVersion: "v1",
		kind: "Config",
		clusters: names.map((name) => ({ name, cluster: contexts[name]?.cluster })),
		users: names.map((name) => ({ name, user: contexts[name]?.user ?? { token: "secret" } })),
		contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
	};
	writeFileSync(kubeconfig, JSON.stringify(config));
	const args = [program, "version", `--kubeconfig=${kubeconfig}`, `--contexts=${names.join(",")}`];
	return new Promise((resolve) => {
		execFile(process.execPath, args, { env }, (_, ...said) => resolve(said.join("")));
	});
}

const ca = (): string => Buffer.from(fleet.certificate).toString("base64");
/** The path of each request contains the name. */
const serverAt = (port: number, name = ""): string => `https://127.0.0.1:${port}/${name}`;

describe("with NODE_TLS_REJECT_UNAUTHORIZED=0", () => {
	test("servers, proxies and issuers whose certificates do not verify are sent nothing", async () => {
		const port = await startStranger();
		const named = { "certificate-authority-data": ca() };
		const socks = `socks5://127.0.0.1:${await startSocksProxy()}`;
		const proxy = `http://127.0.0.1:${await startConnectProxy()}`;
		const oidc = (name: string, more: Readonly<Record<string, string>>) => ({
			"auth-provider": {
				name: "oidc",
				config: {
					"client-id": "xpdb",
					"id-token": `e30.${Buffer.from(JSON.stringify({ exp: 1 })).toString("base64url")}.x`,
					"refresh-token": "secret",
					"idp-issuer-url": serverAt(port, name),
					...more,
				},
			},
		});
		const nowhere = { server: "https://127.0.0.1:1", ...named };
		const contexts = {
			named: { cluster: { server: serverAt(port, "named"), ...named } },
			public: { cluster: { server: serverAt(port, "public") } },
			socks: { cluster: { server: serverAt(port, "socks"), ...named, "proxy-url": socks } },
			proxied: { cluster: { server: serverAt(port, "proxied"), ...named, "proxy-url": proxy } },
			proxy: {
				cluster: { server: "https://eu.example", ...named, "proxy-url": `https://user:secret@127.0.0.1:${port}` },
			},
			oidc: { cluster: nowhere, user: oidc("oidc", {}) },
			"oidc-named": { cluster: nowhere, user: oidc("oidc-named", { "idp-certificate-authority-data": ca() }) },
		};
		const said = await askVersions(contexts, unverified);
		expect(heard).toEqual([]);
		for (const name of ["named", "public", "socks", "proxied", "proxy"]) {
			expect(said).toMatch(
				new RegExp(`^ +${name}: .*unable to verify the first certificate; set certificate-auth`, "m"),
			);
		}
		expect(said).not.toMatch(/Node\.js|--use-|makes TLS/);
	});

	test("nor are they behind a proxy of the environment", async () => {
		const port = await startStranger();
		const cluster = { server: `https://stranger.example:${port}`, "certificate-authority-data": ca() };
		for (const proxy of [
			`http://127.0.0.1:${await startConnectProxy()}`,
			`https://user:secret@127.0.0.1:${await startStranger()}`,
		]) {
			const said = await askVersions({ eu: { cluster } }, { ...unverified, HTTPS_PROXY: proxy });
			expect({ proxy, heard }).toEqual({ proxy, heard: [] });
			expect(said).toContain("unable to verify the first certificate");
		}
	});

	test("nor is a server that is asked for a WebSocket", async () => {
		askForUnverifiedTls();
		const server = serverAt(await startStranger());
		const dialer = createApiDialer({
			context: "eu",
			namespace: "shop",
			server,
			cluster: { name: "cluster", server, skipTLSVerify: false, caData: ca() },
			user: { name: "user", token: "secret" },
			exec: undefined,
			headers: {},
			httpProxy: undefined,
			requestTimeoutMs: 0,
		});
		onTestFinished(() => dialer.close());
		await expect(dialer.exchange({ method: "GET", path: "/version", headers: {} })).rejects.toThrow("unable to verify");
		const ws = await dialer.webSocket("/x", "v4.channel.k8s.io");
		const [error] = await once(ws, "error");
		expect({ heard, error: String(error) }).toEqual({ heard: [], error: expect.stringContaining("unable to verify") });
	});
});

test("NODE_EXTRA_CA_CERTS counts where the kubeconfig names no authority, SSLKEYLOGFILE nowhere, insecure-skip-tls-verify as ever", async () => {
	const port = await startStranger();
	const contexts = {
		named: { cluster: { server: serverAt(port, "named"), "certificate-authority-data": ca() } },
		public: { cluster: { server: serverAt(port, "public") } },
		insecure: {
			cluster: { server: serverAt(await startStranger(pairOfNobody), "insecure"), "insecure-skip-tls-verify": true },
		},
	};
	const keys = join(folder, "keys");
	await askVersions(contexts, { NODE_EXTRA_CA_CERTS: join(folder, "stranger.crt"), SSLKEYLOGFILE: keys });
	expect(existsSync(keys)).toBe(false);
	expect(heard.filter((each) => !each.endsWith(" Bearer secret"))).toEqual([]);
	const asked = new Set(heard.map((each) => /^GET \/(\w+)/.exec(each)?.[1]));
	expect(asked).toEqual(new Set(["public", "insecure"]));
});

async function startConnectProxy(): Promise<number> {
	const proxy = createPlainServer();
	proxy.on("connect", (request, socket) => {
		const port = Number(request.url?.split(":").at(-1));
		const onward = connect(port, "127.0.0.1", () => {
			socket.write("HTTP/1.1 200 OK\r\n\r\n");
			onward.pipe(socket).pipe(onward);
		});
		for (const each of [socket, onward]) each.on("error", () => undefined);
	});
	return listen(proxy);
}

/** Starts a SOCKS proxy without authentication, for IPv4 addresses. */
async function startSocksProxy(): Promise<number> {
	const proxy = createSocketServer((socket) => {
		socket.on("error", () => undefined);
		socket.once("data", () => {
			socket.write(Buffer.from([5, 0]));
			socket.once("data", (request: Buffer) => {
				const onward = connect(request.readUInt16BE(request.length - 2), "127.0.0.1", () => {
					socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
					onward.pipe(socket).pipe(onward);
				});
				onward.on("error", () => undefined);
			});
		});
	});
	return listen(proxy);
}
