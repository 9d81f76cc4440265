import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiAccessError, inClusterAccess, kubeconfigAccess } from "../../../agent/kubernetes/api-access.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { type Authority, createAuthority, type KeyPair } from "../../../demo/machine/certificates.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";

let authority: Authority;
let stranger: Authority;
let serverPair: KeyPair;
let clientPair: KeyPair;
beforeAll(async () => {
	authority = await createAuthority("cluster");
	stranger = await createAuthority("stranger");
	serverPair = await authority.issue({
		commonName: "kube-apiserver",
		dnsNames: ["kubernetes.default.svc"],
		ipAddresses: ["127.0.0.1"],
		usages: ["server"],
	});
	clientPair = await authority.issue({ commonName: "alice", organizations: ["admins"], usages: ["client"] });
});

let folder: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "xpdb-access-"));
	cleanups.push(() => rmSync(folder, { recursive: true }));
});
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function write(name: string, text: string): string {
	const path = join(folder, name);
	writeFileSync(path, text);
	return path;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

function kubeconfig(cluster: object, user: object): string {
	return write(
		"config",
		JSON.stringify({
			"current-context": "here",
			contexts: [
				{ name: "here", context: { cluster: "c", user: "u" } },
				{ name: "lost", context: { cluster: "other", user: "u" } },
				{ name: "nobody", context: { cluster: "c", user: "other" } },
			],
			clusters: [{ name: "c", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
			users: [{ name: "u", user }],
		}),
	);
}

async function startServer(): Promise<{ readonly server: Http2SecureServer; readonly port: number }> {
	const server = createSecureServer({
		cert: serverPair.certificate,
		key: serverPair.key,
		ca: authority.certificate,
		requestCert: true,
		rejectUnauthorized: false,
	});
	server.on("stream", (stream, headers) => {
		const socket = stream.session?.socket as TLSSocket | undefined;
		const person = socket?.authorized ? socket.getPeerCertificate().subject.CN : undefined;
		stream.respond({ ":status": 200 });
		stream.end(JSON.stringify({ person, token: headers.authorization }));
	});
	server.on("error", () => undefined);
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	cleanups.push(() => server.close());
	return { server, port: (server.address() as AddressInfo).port };
}

async function whoAmI(path: string): Promise<unknown> {
	const access = await kubeconfigAccess({ path });
	const connection = createApiConnection({ access, clock: systemClock, cluster: "c" });
	cleanups.push(() => connection.close());
	return (await connection.request({ method: "GET", path: "/me" })).body;
}

describe("kubeconfigAccess()", () => {
	test("uses inline certificates, or files beside the kubeconfig", async () => {
		const { port } = await startServer();
		const server = `https://127.0.0.1:${port}`;
		const inline = kubeconfig(
			{ server, "certificate-authority-data": base64(authority.certificate) },
			{ "client-certificate-data": base64(clientPair.certificate), "client-key-data": base64(clientPair.key) },
		);
		expect(await whoAmI(inline)).toEqual({ person: "alice" });
		write("ca.crt", authority.certificate);
		write("alice.crt", clientPair.certificate);
		write("alice.key", clientPair.key);
		const files = kubeconfig(
			{ server, "certificate-authority": "ca.crt" },
			{ "client-certificate": "alice.crt", "client-key": "alice.key" },
		);
		expect(await whoAmI(files)).toEqual({ person: "alice" });
	});

	test("verifies the server's certificate: its CA and its name", async () => {
		const { port } = await startServer();
		const wrongAuthority = kubeconfig(
			{ server: `https://127.0.0.1:${port}`, "certificate-authority-data": base64(stranger.certificate) },
			{ token: "t" },
		);
		await expect(whoAmI(wrongAuthority)).rejects.toThrow(AgentUnavailableError);
		const known = { "certificate-authority-data": base64(authority.certificate) };
		const wrongName = kubeconfig({ server: `https://localhost:${port}`, ...known }, { token: "t" });
		await expect(whoAmI(wrongName)).rejects.toThrow(/altnames|ECONNREFUSED/);
		const givenName = kubeconfig(
			{ server: `https://127.0.0.1:${port}`, "tls-server-name": "kubernetes.default.svc", ...known },
			{ token: "t" },
		);
		expect(await whoAmI(givenName)).toEqual({ token: "Bearer t" });
	});

	test("reads a tokenFile again each time, and prefers it to a token", async () => {
		write("token", "one\n");
		const access = await kubeconfigAccess({ path: kubeconfig({}, { tokenFile: "token", token: "old" }) });
		expect(access.token()).toBe("one");
		write("token", "two\n");
		expect(access.token()).toBe("two");
		write("token", "\n");
		expect(() => access.token()).toThrow(ApiAccessError);
	});

	const rows = [
		{ name: "insecure-skip-tls-verify", cluster: { "insecure-skip-tls-verify": true }, user: {}, says: "verifies" },
		{ name: "a server over http", cluster: { server: "http://10.0.0.1" }, user: {}, says: "https://" },
		{ name: "proxy-url", cluster: { "proxy-url": "http://proxy" }, user: {}, says: "proxy-url" },
		{ name: "exec", cluster: {}, user: { exec: { command: "aws" } }, says: 'user "u" has exec' },
		{ name: "an auth-provider", cluster: {}, user: { "auth-provider": { name: "gcp" } }, says: "auth-provider" },
		{ name: "a password", cluster: {}, user: { username: "a", password: "b" }, says: "username" },
		{ name: "impersonation", cluster: {}, user: { as: "root" }, says: 'user "u" has as' },
		{ name: "a context that is not there", context: "none", says: 'no context "none"' },
		{ name: "a cluster that is not there", context: "lost", says: 'no cluster "other"' },
		{ name: "a user that is not there", context: "nobody", says: 'no user "other"' },
	];
	for (const { name, cluster = {}, user = {}, context, says } of rows) {
		test(`refuses ${name}`, async () => {
			const path = kubeconfig(cluster, user);
			const error: unknown = await kubeconfigAccess({ path, ...(context !== undefined && { context }) }).catch(
				(reason: unknown) => reason,
			);
			expect(error).toBeInstanceOf(ApiAccessError);
			expect(String(error)).toContain(says);
			expect(String(error)).toContain(path);
		});
	}

	for (const [name, text] of [
		["a file that is no YAML", "a: [b"],
		["an empty file", ""],
		["a file without current-context", "contexts: []"],
	] as const) {
		test(`refuses ${name}`, async () => {
			await expect(kubeconfigAccess({ path: write("config", text) })).rejects.toThrow(ApiAccessError);
		});
	}

	test("refuses a file that is not there", async () => {
		await expect(kubeconfigAccess({ path: join(folder, "none") })).rejects.toThrow(ApiAccessError);
	});
});

describe("inClusterAccess()", () => {
	test("reads token and CA of the ServiceAccount as they are now", () => {
		write("token", "one\n");
		write("ca.crt", "CA 1");
		const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
		const access = inClusterAccess({ env, directory: folder });
		expect(access.server).toBe("https://10.0.0.1:443");
		expect(access.token()).toBe("one");
		write("token", "two");
		write("ca.crt", "CA 2");
		expect(access.token()).toBe("two");
		expect(String(access.tls().ca)).toBe("CA 2");
	});

	test("puts an IPv6 address into brackets", () => {
		const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
		expect(inClusterAccess({ env }).server).toBe("https://[fd00::1]:443");
	});

	test("says what to do outside of a Pod", () => {
		expect(() => inClusterAccess({ env: {} })).toThrow(/give --kubeconfig/);
	});
});
