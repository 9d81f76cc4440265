import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { Server } from "@grpc/grpc-js";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { PeriodicWork } from "../../../agent/process/periodic-work.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { CertificateError, Certificates } from "../../../agent/tls/certificates.ts";
import {
	type Authority,
	createAuthority,
	issueAgentCertificate,
	type KeyPair,
} from "../../../demo/machine/certificates.ts";
import { memberUri } from "../../../proto/member-certificate.ts";

const serverName = "xpdb-agent.xpdb-system.svc";
const clusterId = "0f0d2f60-0000-4000-8000-000000000001";
let fleet: Authority;
let stranger: Authority;
let first: KeyPair;
let second: KeyPair;
beforeAll(async () => {
	[fleet, stranger] = await Promise.all([createAuthority("fleet"), createAuthority("stranger")]);
	[first, second] = await Promise.all([
		issueAgentCertificate(fleet, { clusterId }),
		issueAgentCertificate(fleet, { clusterId }),
	]);
});

let folder: string;
const cleanups: (() => void)[] = [];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "xpdb-certificates-"));
	cleanups.push(() => rmSync(folder, { recursive: true }));
	write({ ...first, ca: fleet.certificate });
});
afterEach(() => {
	for (const cleanup of cleanups.splice(0).toReversed()) cleanup();
});

function write(texts: Partial<KeyPair & { ca: string }>): void {
	if (texts.certificate !== undefined) writeFileSync(join(folder, "tls.crt"), texts.certificate);
	if (texts.key !== undefined) writeFileSync(join(folder, "tls.key"), texts.key);
	if (texts.ca !== undefined) writeFileSync(join(folder, "ca.crt"), texts.ca);
}

function issue(names: { readonly dnsNames?: readonly string[]; readonly uris?: readonly string[] }): Promise<KeyPair> {
	return fleet.issue({ commonName: "xpdb-agent", dnsNames: [serverName], ...names, usages: ["server", "client"] });
}

function open(problems: Error[] = []): Certificates {
	const certificates = new Certificates({
		files: {
			certificateFile: join(folder, "tls.crt"),
			privateKeyFile: join(folder, "tls.key"),
			caFile: join(folder, "ca.crt"),
		},
		serverName,
		report: (problem) => problems.push(problem),
	});
	const clock = { after: (_: number, read: () => void) => systemClock.after(10, read) };
	const periodic = new PeriodicWork({ clock, report: (problem) => expect.fail(String(problem)) });
	periodic.begin(certificates.job);
	cleanups.push(() => periodic.close());
	return certificates;
}

async function listen(certificates: Certificates, peers: boolean): Promise<number> {
	const server = new Server();
	cleanups.push(() => server.forceShutdown());
	return new Promise((resolve, reject) => {
		server.bindAsync("127.0.0.1:0", certificates.serverCredentials({ peers }), (error, port) =>
			error ? reject(error) : resolve(port),
		);
	});
}

/** Resolves with the connection when the server has sent its first bytes of HTTP/2. */
function handshake(port: number, options: Partial<KeyPair> & { maxVersion?: "TLSv1.2" } = {}): Promise<TLSSocket> {
	const { certificate, key, maxVersion } = options;
	const socket = connect({
		port,
		host: "127.0.0.1",
		servername: serverName,
		ca: fleet.certificate,
		ALPNProtocols: ["h2"],
		...(certificate !== undefined && { cert: certificate, key }),
		...(maxVersion && { minVersion: maxVersion, maxVersion }),
	});
	cleanups.push(() => socket.destroy());
	return new Promise((resolve, reject) => {
		socket.once("error", reject);
		socket.once("close", () => reject(new Error("closed")));
		socket.once("data", () => resolve(socket));
	});
}

const shown = (socket: TLSSocket) => socket.getPeerX509Certificate()?.serialNumber;

describe("Certificates", () => {
	test("are taken up when the files change, without a new server, and old connections go on", async () => {
		const certificates = open();
		const port = await listen(certificates, false);
		const before = await handshake(port);
		const changed = new Promise((resolve) => certificates.onChange(resolve));
		write(second);
		await changed;
		const after = await handshake(port);
		expect(shown(after)).not.toBe(shown(before));
		expect(before.destroyed).toBe(false);
		expect(certificates.current.certificate).toBe(second.certificate);
	});

	for (const peers of [true, false]) {
		test(`speak TLS 1.3 only, ${peers ? "to peers" : "to callers with a token"}, also after a change`, async () => {
			const certificates = open();
			const port = await listen(certificates, peers);
			expect((await handshake(port, first)).getProtocol()).toBe("TLSv1.3");
			await expect(handshake(port, { ...first, maxVersion: "TLSv1.2" })).rejects.toBeInstanceOf(Error);
			const changed = new Promise((resolve) => certificates.onChange(resolve));
			write(second);
			await changed;
			expect((await handshake(port, first)).getProtocol()).toBe("TLSv1.3");
			await expect(handshake(port, { ...first, maxVersion: "TLSv1.2" })).rejects.toBeInstanceOf(Error);
		});
	}

	test("let in no peer without a certificate of the fleet's CA", async () => {
		const port = await listen(open(), true);
		await expect(handshake(port)).rejects.toBeInstanceOf(Error);
		await expect(handshake(port, await issueAgentCertificate(stranger, { clusterId }))).rejects.toBeInstanceOf(Error);
		await expect(handshake(port, second)).resolves.toBeDefined();
	});

	test("let in peers of a new CA once it is there", async () => {
		const certificates = open();
		const port = await listen(certificates, true);
		const peer = await issueAgentCertificate(stranger, { clusterId });
		const changed = new Promise((resolve) => certificates.onChange(resolve));
		write({ ca: fleet.certificate + stranger.certificate });
		await changed;
		await expect(handshake(port, peer)).resolves.toBeDefined();
		await expect(handshake(port, second)).resolves.toBeDefined();
		await expect(handshake(port)).rejects.toBeInstanceOf(Error);
	});

	test("stay as they are while the files do not fit together, which is reported once", async () => {
		const problems: Error[] = [];
		const certificates = open(problems);
		const port = await listen(certificates, false);
		const before = shown(await handshake(port));
		write({ key: second.key });
		await vi.waitFor(() => expect(problems).toHaveLength(1));
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(shown(await handshake(port))).toBe(before);
		expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("is not the key of")]);
		const changed = new Promise((resolve) => certificates.onChange(resolve));
		write({ certificate: second.certificate });
		await changed;
		expect(shown(await handshake(port))).not.toBe(before);
	});

	const refusals: { name: string; change: () => void | Promise<void>; why: string }[] = [
		{ name: "a missing file", change: () => rmSync(join(folder, "tls.key")), why: "cannot read" },
		{ name: "a certificate that is none", change: () => write({ certificate: "x" }), why: "is not a certificate" },
		{ name: "a key that is none", change: () => write({ key: "x" }), why: "is not a private key" },
		{ name: "a CA that is none", change: () => write({ ca: "" }), why: "is not a certificate" },
		{ name: "the key of another certificate", change: () => write({ key: second.key }), why: "is not the key of" },
		{
			name: "a certificate of another name",
			change: async () => write(await issue({ dnsNames: ["a.svc"] })),
			why: `is not for "${serverName}"`,
		},
		{
			name: "a certificate that names no cluster",
			change: async () => write(await issue({})),
			why: "is for no one cluster",
		},
		{
			name: "a certificate that names two clusters",
			change: async () => write(await issue({ uris: [memberUri("a"), memberUri("b")] })),
			why: "is for no one cluster",
		},
		{
			name: "a bundle of CAs of which the second cannot be read",
			change: () => write({ ca: `${fleet.certificate}${stranger.certificate.slice(0, 100)}` }),
			why: "is not a certificate",
		},
	];
	for (const { name, change, why } of refusals) {
		test(`refuse ${name} at the start`, async () => {
			await change();
			expect(() => open()).toThrow(CertificateError);
			expect(() => open()).toThrow(why);
		});
	}

	test("refuse to be another cluster's, at the start and later", async () => {
		const problems: Error[] = [];
		const certificates = open(problems);
		expect(() => certificates.requireMember("another-id")).toThrow(
			`is for cluster id "${clusterId}", and must have the URI xpdb://cluster/another-id`,
		);
		certificates.requireMember(clusterId);
		write(await issueAgentCertificate(fleet, { clusterId: "another-id" }));
		await vi.waitFor(() => expect(problems).toHaveLength(1));
		expect(problems[0]?.message).toContain('is for cluster id "another-id"');
		expect(certificates.current.certificate).toBe(first.certificate);
	});

	test("say which ones are in use, also after a change", async () => {
		const certificates = open();
		const markOf = (pem: string) => {
			const { fingerprint256, validToDate } = new X509Certificate(pem);
			return { sha256: fingerprint256, expiresAtSeconds: validToDate.getTime() / 1_000 };
		};
		expect(certificates.marks).toEqual({
			certificate: markOf(first.certificate),
			authorities: [markOf(fleet.certificate)],
		});
		write({ ...second, ca: `${fleet.certificate}${stranger.certificate}` });
		await vi.waitFor(() =>
			expect(certificates.marks).toEqual({
				certificate: markOf(second.certificate),
				authorities: [markOf(fleet.certificate), markOf(stranger.certificate)],
			}),
		);
	});

	test("know when the first certificate of a file expires, and report one that has", async () => {
		const problems: Error[] = [];
		const brief = await issueAgentCertificate(fleet, { clusterId, validForMs: 60_000 });
		write(brief);
		const { expiry } = open(problems);
		expect(expiry.certificateAt.getTime()).toBeLessThan(Date.now() + 61_000);
		expect(expiry.caAt.getTime()).toBeGreaterThan(Date.now() + 300 * 86_400_000);
		expect(problems).toEqual([]);
		write(await issueAgentCertificate(fleet, { clusterId, validForMs: -1_000 }));
		open(problems);
		expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('tls.crt" expired at')]);
	});
});
