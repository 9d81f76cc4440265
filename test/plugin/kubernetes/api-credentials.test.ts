import { once } from "node:events";
import { createServer as createPlainServer } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { connect } from "node:net";
import { TLSSocket } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Authority, createAuthority, type KeyPair } from "../../../demo/machine/certificates.ts";
import { createApiDialer } from "../../../plugin/kubernetes/api-dialer.ts";
import type { Connection } from "../../../plugin/kubernetes/connection.ts";
import { base64 } from "../../../plugin/kubernetes/plain-login.ts";

let ours: Authority;
let server: KeyPair;
let alice: KeyPair;
beforeAll(async () => {
	ours = await createAuthority("ours");
	server = await ours.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], dnsNames: ["eu"], usages: ["server"] });
	alice = await ours.issue({ commonName: "alice", usages: ["client"] });
});

interface Server {
	readonly url: string;
	/** The name in the client certificate of each request. */
	readonly callers: string[];
	/** The server names (SNI) of the connections. */
	readonly names: string[];
}

/** Starts a server that accepts only clients with a certificate of our CA. */
async function startServer(): Promise<Server> {
	const callers: string[] = [];
	const names: string[] = [];
	const options: ServerOptions = { cert: server.certificate, key: server.key, ca: ours.certificate, requestCert: true };
	const listener = createServer(options, ({ socket }, response) => {
		const subject = socket instanceof TLSSocket ? socket.getPeerCertificate().subject : undefined;
		callers.push(String(subject?.CN));
		response.end("{}");
	});
	listener.on("secureConnection", (socket) => names.push(String(socket.servername)));
	listener.on("tlsClientError", () => undefined);
	listener.listen(0, "127.0.0.1");
	await once(listener, "listening");
	onTestFinished(() => {
		listener.closeAllConnections();
		listener.close();
	});
	const address = listener.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	return { url: `https://127.0.0.1:${address.port}`, callers, names };
}

function dial(url: string, cluster: Partial<Connection["cluster"]>, some: Partial<Connection> = {}) {
	const dialer = createApiDialer({
		context: "eu",
		namespace: "shop",
		server: url,
		cluster: { name: "cluster", server: url, skipTLSVerify: false, ...cluster },
		user: { name: "user", certData: base64(alice.certificate), keyData: base64(alice.key) },
		exec: undefined,
		headers: {},
		httpProxy: undefined,
		requestTimeoutMs: 0,
		...some,
	});
	onTestFinished(() => dialer.close());
	return dialer;
}

const get = { method: "GET", path: "/x", headers: {} };

describe("connections of one context, which share what is read of certificates", () => {
	test("side by side, each shows who we are and checks the server", async () => {
		const { url, callers } = await startServer();
		const dialer = dial(url, { caData: base64(ours.certificate) });
		const answers = await Promise.all([get, get, get, get, get].map((request) => dialer.exchange(request)));
		expect(answers.map(({ code }) => code)).toEqual([200, 200, 200, 200, 200]);
		expect(callers).toEqual(["alice", "alice", "alice", "alice", "alice"]);
	});

	test("none is made with a server of another authority, nor with one of another name", async () => {
		const { url, callers } = await startServer();
		const theirs = await createAuthority("theirs");
		const stranger = dial(url, { caData: base64(theirs.certificate) });
		const refused = await Promise.allSettled([stranger.exchange(get), stranger.exchange(get)]);
		expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
		const unnamed = dial(url, {});
		await expect(unnamed.exchange(get)).rejects.toThrow("certificate");
		const named = dial(url, { caData: base64(ours.certificate), tlsServerName: "us" });
		await expect(named.exchange(get)).rejects.toThrow("us");
		const ws = await stranger.webSocket("/x", "v4.channel.k8s.io");
		await expect(once(ws, "open")).rejects.toThrow("certificate");
		expect(callers).toEqual([]);
	});

	test("the server is asked for by the name that the kubeconfig has for it, and not checked where it says so", async () => {
		const { url, callers, names } = await startServer();
		await dial(url, { caData: base64(ours.certificate), tlsServerName: "eu" }).exchange(get);
		await dial(url, { skipTLSVerify: true }).exchange(get);
		expect(names).toEqual(["eu", "false"]);
		expect(callers).toEqual(["alice", "alice"]);
	});

	test("through a proxy of the environment too", async () => {
		const { url, callers } = await startServer();
		const tunnels: string[] = [];
		const proxy = createPlainServer();
		proxy.on("connect", ({ url: target = "" }, socket) => {
			tunnels.push(target);
			const far = connect({ host: "127.0.0.1", port: Number(target.split(":")[1]) }, () => {
				socket.write("HTTP/1.1 200 OK\r\n\r\n");
				far.pipe(socket).pipe(far);
			});
			onTestFinished(() => void far.destroy());
		});
		proxy.listen(0, "127.0.0.1");
		await once(proxy, "listening");
		onTestFinished(() => void proxy.close());
		const address = proxy.address();
		if (typeof address !== "object" || !address) throw new Error("no address");
		const httpProxy = `http://127.0.0.1:${address.port}`;
		const dialer = dial(url, { caData: base64(ours.certificate) }, { httpProxy });
		expect(await dialer.exchange(get)).toMatchObject({ code: 200 });
		const theirs = await createAuthority("theirs");
		await expect(dial(url, { caData: base64(theirs.certificate) }, { httpProxy }).exchange(get)).rejects.toThrow(
			"certificate",
		);
		expect([callers, tunnels.length]).toEqual([["alice"], 2]);
	});

	test("an address as the server's name is checked, and not told to the server", async () => {
		const { url, names } = await startServer();
		const warnings: string[] = [];
		const onWarning = ({ message }: Error): void => void warnings.push(message);
		process.on("warning", onWarning);
		onTestFinished(() => void process.off("warning", onWarning));
		const caData = base64(ours.certificate);
		expect(await dial(url, { caData, tlsServerName: "127.0.0.1" }).exchange(get)).toMatchObject({ code: 200 });
		expect(names).toEqual(["false"]);
		await expect(dial(url, { caData, tlsServerName: "10.0.0.1" }).exchange(get)).rejects.toThrow("10.0.0.1");
		await new Promise(setImmediate);
		expect(warnings).toEqual([]);
	});

	test("a certificate that cannot be read is told with the server's name", async () => {
		const dialer = dial("https://127.0.0.1:1", { caData: base64("-----BEGIN CERTIFICATE-----\nno\n") });
		await expect(dialer.exchange(get)).rejects.toThrow(/127\.0\.0\.1:1/);
	});
});
