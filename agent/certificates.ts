// The agent's certificate, its key and the fleet's CA, read again when the files change: new connections get the new ones,
// connections that stand go on. Files that do not fit together (a rotation half done, a wrong file) are never put to use:
// the last good ones stay, and the problem is reported once.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { ServerCredentials } from "@grpc/grpc-js";

export interface CertificateFiles {
	readonly certificateFile: string;
	readonly privateKeyFile: string;
	readonly caFile: string;
}

/** All as PEM. */
export interface CertificateMaterial {
	readonly certificate: string;
	readonly privateKey: string;
	readonly ca: string;
}

/** The files cannot be used; a person has to change them. */
export class CertificateError extends Error {
	override readonly name = "CertificateError";
	readonly reason = "Certificate";
}

export interface CertificatesOptions {
	readonly files: CertificateFiles;
	/** The name that every agent's certificate must have. */
	readonly serverName: string;
	/** A kubelet takes up to a minute to bring new files, so that a few seconds more do not matter. */
	readonly pollMs?: number;
	readonly report: (problem: Error) => void;
}

export class Certificates {
	readonly #options: CertificatesOptions;
	readonly #listeners = new Set<(material: CertificateMaterial) => void>();
	readonly #timer: NodeJS.Timeout;
	#current: CertificateMaterial;
	#lastProblem = "";

	/** Throws CertificateError where the files cannot be used. */
	constructor(options: CertificatesOptions) {
		this.#options = options;
		this.#current = readMaterial(options);
		this.#timer = setInterval(() => this.#poll(), options.pollMs ?? 5_000);
		this.#timer.unref();
	}

	get current(): CertificateMaterial {
		return this.#current;
	}

	/** Calls back with new material; the returned function ends that. */
	onChange(listener: (material: CertificateMaterial) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	/** For a server whose callers show a certificate of the fleet's CA, or (`peers` false) none. */
	serverCredentials({ peers }: { readonly peers: boolean }): ServerCredentials {
		const credentials = new RotatingServerCredentials(this.#current, peers);
		this.onChange((material) => credentials.rotate(material));
		return credentials;
	}

	close(): void {
		clearInterval(this.#timer);
		this.#listeners.clear();
	}

	#poll(): void {
		let material: CertificateMaterial;
		try {
			material = readMaterial(this.#options);
		} catch (error) {
			if (!(error instanceof CertificateError)) throw error;
			if (error.message !== this.#lastProblem) this.#options.report(error);
			this.#lastProblem = error.message;
			return;
		}
		this.#lastProblem = "";
		const { certificate, privateKey, ca } = this.#current;
		if (material.certificate === certificate && material.privateKey === privateKey && material.ca === ca) return;
		this.#current = material;
		for (const listener of this.#listeners) listener(material);
	}
}

/** grpc-js swaps the secure context of its listening sockets whenever the options are updated. */
class RotatingServerCredentials extends ServerCredentials {
	constructor(material: CertificateMaterial, peers: boolean) {
		super({ requestCert: peers, rejectUnauthorized: peers, ...tls13 }, contextOptions(material));
	}

	rotate(material: CertificateMaterial): void {
		this.updateSecureContextOptions(contextOptions(material));
	}

	override _equals(other: ServerCredentials): boolean {
		return this === other;
	}
}

const tls13 = { minVersion: "TLSv1.3" } as const;

function contextOptions({ certificate, privateKey, ca }: CertificateMaterial): SecureContextOptions {
	return { cert: certificate, key: privateKey, ca, ...tls13 };
}

function readMaterial({ files, serverName, report }: CertificatesOptions): CertificateMaterial {
	const material = {
		certificate: readFile(files.certificateFile),
		privateKey: readFile(files.privateKeyFile),
		ca: readFile(files.caFile),
	};
	const certificate = parse(() => new X509Certificate(material.certificate), files.certificateFile, "a certificate");
	const key = parse(() => createPrivateKey(material.privateKey), files.privateKeyFile, "a private key");
	parse(() => new X509Certificate(material.ca), files.caFile, "a certificate");
	if (!certificate.checkPrivateKey(key)) {
		throw new CertificateError(`"${files.privateKeyFile}" is not the key of "${files.certificateFile}"`);
	}
	if (certificate.checkHost(serverName) === undefined) {
		throw new CertificateError(
			`"${files.certificateFile}" is not for "${serverName}", the name by which callers and peers know the agents: ` +
				`it has ${certificate.subjectAltName ?? "no subject alternative name"}`,
		);
	}
	parse(() => createSecureContext(contextOptions(material)), files.certificateFile, "usable for TLS");
	if (certificate.validToDate.getTime() < Date.now()) {
		report(new CertificateError(`"${files.certificateFile}" expired at ${certificate.validToDate.toISOString()}`));
	}
	return material;
}

function readFile(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new CertificateError(`Cannot read "${path}": ${error instanceof Error ? error.message : String(error)}`, {
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
