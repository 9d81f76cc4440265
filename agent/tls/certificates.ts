// Keeps the agent's certificate, its key and the fleet's CA, and reads the files again when they change. New connections use the new
// material, and listeners end existing connections, so that a removed CA is no longer accepted. The certificate must name this cluster as a
// member. Files that do not fit together, for example during a rotation, are never used: the last valid ones stay, and the problem is
// reported once.
import { createPrivateKey, type X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { ServerCredentials } from "@grpc/grpc-js";
import { BoundedError } from "../../disruption/bounded-error.ts";
import type { AgentCertificates, CertificateMark } from "../../proto/agent-cluster.ts";
import { parseCertificates } from "../../proto/credentials.ts";
import { describeMember, findMemberId, memberUri } from "../../proto/member-certificate.ts";
import type { CertificateExpiry } from "../process/metrics.ts";
import type { PeriodicJob } from "../process/periodic-work.ts";

interface CertificateFiles {
	readonly certificateFile: string;
	readonly privateKeyFile: string;
	readonly caFile: string;
}

/** PEM. */
export interface CertificateMaterial {
	readonly certificate: string;
	readonly privateKey: string;
	readonly ca: string;
}

/** The files cannot be used; a person must change them. */
export class CertificateError extends BoundedError {
	override readonly name = "CertificateError";
	readonly reason = "Certificate";
}

interface CertificatesOptions {
	readonly files: CertificateFiles;
	/** The name that every agent's certificate must have. */
	readonly serverName: string;
	readonly report: (problem: Error) => void;
}

/** Together with the 5 s for calls on old connections, a removed CA is out within a lease duration of 10 s. */
const pollMs = 2_000;

export class Certificates {
	readonly #options: CertificatesOptions;
	readonly #listeners = new Set<(material: CertificateMaterial) => void>();
	#current: CertificateMaterial;
	#expiry: CertificateExpiry;
	#marks: AgentCertificates;
	/** The cluster id that the certificate must name, once it is known. */
	#member: string | undefined;
	#lastProblem = "";
	readonly job: PeriodicJob = { pauseMs: () => pollMs, pass: () => this.#poll() };

	/** Throws CertificateError if the files cannot be used. */
	constructor(options: CertificatesOptions) {
		this.#options = options;
		const { material, expiry, marks } = checked(readFiles(options.files), options, undefined);
		this.#current = material;
		this.#expiry = expiry;
		this.#marks = marks;
		const expired = expiredFiles(options.files, expiry);
		if (expired) options.report(expired);
		this.#lastProblem = expired?.message ?? "";
	}

	get current(): CertificateMaterial {
		return this.#current;
	}

	get expiry(): CertificateExpiry {
		return this.#expiry;
	}

	get marks(): AgentCertificates {
		return this.#marks;
	}

	/** From now on, requires that the certificate names this cluster. Throws CertificateError if the current one does not. */
	requireMember(clusterId: string): void {
		const { files } = this.#options;
		requireMemberOf(parseBundle(this.#current.certificate, files.certificateFile)[0], { files, member: clusterId });
		this.#member = clusterId;
	}

	/** Calls back with new material; the returned function unsubscribes. */
	onChange(listener: (material: CertificateMaterial) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	/** Returns credentials for a server. With `peers`, callers must show a certificate of the fleet's CA; otherwise none is requested. */
	serverCredentials({ peers }: { readonly peers: boolean }): ServerCredentials {
		const credentials = new RotatingServerCredentials(this.#current, peers);
		this.onChange((material) => credentials.rotate(material));
		return credentials;
	}

	#poll(): void {
		let read: ReadMaterial;
		try {
			const files = readFiles(this.#options.files);
			// Parsing unchanged keys and contexts again would be most of an idle agent's work.
			const { expiry, marks } = this;
			read = isSame(files, this.#current)
				? { material: this.#current, expiry, marks }
				: checked(files, this.#options, this.#member);
		} catch (error) {
			if (!(error instanceof CertificateError)) throw error;
			if (error.message !== this.#lastProblem) this.#options.report(error);
			this.#lastProblem = error.message;
			return;
		}
		const { material, expiry, marks } = read;
		const expired = expiredFiles(this.#options.files, expiry);
		if (expired && expired.message !== this.#lastProblem) this.#options.report(expired);
		this.#lastProblem = expired?.message ?? "";
		if (material === this.#current) return;
		this.#current = material;
		this.#expiry = expiry;
		this.#marks = marks;
		for (const listener of this.#listeners) listener(material);
	}
}

/** grpc-js swaps the secure context of its listening sockets when the options are updated. */
class RotatingServerCredentials extends ServerCredentials {
	constructor(material: CertificateMaterial, peers: boolean) {
		super(
			{ requestCert: peers, rejectUnauthorized: peers, handshakeTimeout: handshakeMs, ...tls13 },
			contextOptions(material),
		);
	}

	rotate(material: CertificateMaterial): void {
		this.updateSecureContextOptions(contextOptions(material));
	}

	override _equals(other: ServerCredentials): boolean {
		return this === other;
	}
}

/**
 * As long as a connection may live without an admitted call (connections.ts). Node's default of two minutes would let idle clients keep
 * connections.
 */
const handshakeMs = 10_000;
const tls13 = { minVersion: "TLSv1.3" } as const;

function contextOptions({ certificate, privateKey, ca }: CertificateMaterial): SecureContextOptions {
	return { cert: certificate, key: privateKey, ca, ...tls13 };
}

interface ReadMaterial {
	readonly material: CertificateMaterial;
	readonly expiry: CertificateExpiry;
	readonly marks: AgentCertificates;
}

function readFiles(files: CertificateFiles): CertificateMaterial {
	return {
		certificate: readFile(files.certificateFile),
		privateKey: readFile(files.privateKeyFile),
		ca: readFile(files.caFile),
	};
}

function isSame(a: CertificateMaterial, b: CertificateMaterial): boolean {
	return a.certificate === b.certificate && a.privateKey === b.privateKey && a.ca === b.ca;
}

/** Throws CertificateError if the files cannot be used. */
function checked(
	material: CertificateMaterial,
	{ files, serverName }: CertificatesOptions,
	member: string | undefined,
): ReadMaterial {
	const [certificate, ...chain] = parseBundle(material.certificate, files.certificateFile);
	const key = parse(() => createPrivateKey(material.privateKey), files.privateKeyFile, "a private key");
	const authorities = parseBundle(material.ca, files.caFile);
	if (!certificate.checkPrivateKey(key)) {
		throw new CertificateError(`"${files.privateKeyFile}" is not the key of "${files.certificateFile}"`);
	}
	if (certificate.checkHost(serverName) === undefined) {
		throw new CertificateError(
			`"${files.certificateFile}" is not for "${serverName}", the name by which callers and peers know the agents: ` +
				`it has ${certificate.subjectAltName ?? "no subject alternative name"}`,
		);
	}
	requireMemberOf(certificate, { files, member });
	parse(() => createSecureContext(contextOptions(material)), files.certificateFile, "usable for TLS");
	return {
		material,
		expiry: { certificateAt: firstToExpire([certificate, ...chain]), caAt: firstToExpire(authorities) },
		marks: { certificate: markOf(certificate), authorities: authorities.map(markOf) },
	};
}

/**
 * Peers identify the agent's cluster by the URI in its certificate. Until the API server has told the cluster's id, `member` is undefined,
 * and the certificate may name any cluster.
 */
function requireMemberOf(
	{ subjectAltName }: Pick<X509Certificate, "subjectAltName">,
	{ files, member }: { readonly files: CertificateFiles; readonly member: string | undefined },
): void {
	const named = findMemberId(subjectAltName);
	if (named !== undefined && (member === undefined || named === member)) return;
	const wanted = memberUri(member ?? "ID");
	throw new CertificateError(
		`"${files.certificateFile}" is for ${describeMember(subjectAltName)}, and must have the URI ${wanted}, ` +
			"where the id is that of this cluster: kubectl get namespace kube-system -o jsonpath={.metadata.uid}",
	);
}

function expiredFiles(
	files: CertificateFiles,
	{ certificateAt, caAt }: CertificateExpiry,
): CertificateError | undefined {
	const expired = [
		{ file: files.certificateFile, at: certificateAt },
		{ file: files.caFile, at: caAt },
	].find(({ at }) => at.getTime() < Date.now());
	return expired && new CertificateError(`"${expired.file}" expired at ${expired.at.toISOString()}`);
}

function markOf({ fingerprint256, validToDate }: X509Certificate): CertificateMark {
	return { sha256: fingerprint256, expiresAtSeconds: Math.floor(validToDate.getTime() / 1_000) };
}

function firstToExpire(certificates: readonly X509Certificate[]): Date {
	return new Date(Math.min(...certificates.map(({ validToDate }) => validToDate.getTime())));
}

function parseBundle(pem: string, path: string): readonly [X509Certificate, ...X509Certificate[]] {
	const [first, ...rest] = parse(() => parseCertificates(pem, `"${path}"`), path, "a certificate");
	if (!first) throw new CertificateError(`"${path}" is not a certificate`);
	return [first, ...rest];
}

function readFile(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new CertificateError(`cannot read "${path}": ${error instanceof Error ? error.message : String(error)}`, {
			cause: error,
		});
	}
}

function parse<T>(read: () => T, path: string, what: string): T {
	try {
		return read();
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		throw new CertificateError(`"${path}" is not ${what}: ${why}`, { cause: error });
	}
}
