import { generateKeyPairSync, randomBytes, webcrypto } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
	BasicConstraintsExtension,
	ExtendedKeyUsage,
	ExtendedKeyUsageExtension,
	KeyUsageFlags,
	KeyUsagesExtension,
	PemConverter,
	SubjectAlternativeNameExtension,
	X509CertificateGenerator,
} from "@peculiar/x509";
import { memberUri } from "../../proto/member-certificate.ts";
import { type KeyPair, writeKeyPair } from "./key-pairs.ts";

export type { KeyPair } from "./key-pairs.ts";

export type CertificateRequest = {
	readonly commonName: string;
	readonly organizations?: readonly string[];
	readonly dnsNames?: readonly string[];
	readonly ipAddresses?: readonly string[];
	readonly uris?: readonly string[];
	/** From now. By default, a year. */
	readonly validForMs?: number;
	readonly usages: readonly ("server" | "client")[];
};

export type Authority = { readonly certificate: string; issue(request: CertificateRequest): Promise<KeyPair> };

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" } as const;
// Certificates are valid from an hour ago, because some tests set clocks wrong by minutes.
const validBeforeMs = 3_600_000;
const validForMs = 365 * 86_400_000;

export async function createAuthority(commonName: string): Promise<Authority> {
	const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
	const root = await X509CertificateGenerator.createSelfSigned({
		serialNumber: serialNumber(),
		name: [{ CN: [commonName] }],
		...validity(),
		keys,
		signingAlgorithm,
		extensions: [
			new BasicConstraintsExtension(true, undefined, true),
			new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
		],
	});
	return {
		certificate: `${root.toString("pem")}\n`,
		async issue(request) {
			const own = await webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
			const certificate = await X509CertificateGenerator.create({
				serialNumber: serialNumber(),
				subject: [
					...(request.organizations ?? []).map((organization) => ({ O: [organization] })),
					{ CN: [request.commonName] },
				],
				issuer: root.subject,
				...validity(request.validForMs),
				publicKey: own.publicKey,
				signingKey: keys.privateKey,
				signingAlgorithm,
				extensions: leafExtensions(request),
			});
			const key = await webcrypto.subtle.exportKey("pkcs8", own.privateKey);
			return { certificate: `${certificate.toString("pem")}\n`, key: `${PemConverter.encode(key, "PRIVATE KEY")}\n` };
		},
	};
}

function leafExtensions(request: CertificateRequest) {
	const names = [
		...(request.dnsNames ?? []).map((value) => ({ type: "dns" as const, value })),
		...(request.ipAddresses ?? []).map((value) => ({ type: "ip" as const, value })),
		...(request.uris ?? []).map((value) => ({ type: "url" as const, value })),
	];
	return [
		new BasicConstraintsExtension(false, undefined, true),
		new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
		new ExtendedKeyUsageExtension(
			request.usages.map((usage) => (usage === "server" ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth)),
		),
		...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
	];
}

function validity(forMs = validForMs): { notBefore: Date; notAfter: Date } {
	return { notBefore: new Date(Date.now() - validBeforeMs), notAfter: new Date(Date.now() + forMs) };
}

// Clients refuse a second certificate with the same issuer and serial number. A first byte below 0x80 keeps the number positive.
function serialNumber(): string {
	return `01${randomBytes(15).toString("hex")}`;
}

export type ClusterIdentity =
	| "apiserver"
	| "kubelet"
	| "admin"
	| "controller-manager"
	| "scheduler"
	| "kwok"
	| "operator";

/** The certificates that a cluster's programs need, without the CA's key. */
export type IssuedCertificates = {
	readonly authority: Pick<Authority, "certificate">;
	readonly pairs: Readonly<Record<ClusterIdentity, KeyPair>>;
};

export type ClusterCertificates = IssuedCertificates & {
	readonly authority: Authority;
	/** Contains "ca.crt", and a ".crt" and ".key" file for each identity. */
	readonly folder: string;
};

export async function createClusterCertificates(options: {
	readonly name: string;
	readonly address: string;
	/** The first address of the service range, which is "kubernetes.default.svc" for pods. */
	readonly serviceAddress: string;
	readonly folder: string;
	/** Whether to write the token keys "sa.key" and "sa.pub". By default, true. */
	readonly tokenKeys?: boolean;
}): Promise<ClusterCertificates> {
	const authority = await createAuthority(`${options.name}-ca`);
	const requests: Record<ClusterIdentity, CertificateRequest> = {
		apiserver: {
			commonName: "kube-apiserver",
			dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
			ipAddresses: [...new Set([options.address, "127.0.0.1", "::1", options.serviceAddress])],
			usages: ["server"],
		},
		kubelet: { commonName: "kubelet", ipAddresses: [options.address], usages: ["server"] },
		admin: { commonName: "admin", organizations: ["system:masters"], usages: ["client"] },
		"controller-manager": { commonName: "system:kube-controller-manager", usages: ["client"] },
		scheduler: { commonName: "system:kube-scheduler", usages: ["client"] },
		// A node's name and group, because the audit judge recognises a kubelet's final delete by its group.
		kwok: {
			commonName: "system:node:kwok",
			organizations: ["system:masters", "system:nodes"],
			usages: ["client"],
		},
		operator: { commonName: "alice", organizations: ["xpdb-operators"], usages: ["client"] },
	};
	const issued = await Promise.all(
		Object.entries(requests).map(async ([identity, request]) => [identity, await authority.issue(request)] as const),
	);
	const pairs = Object.fromEntries(issued) as Record<ClusterIdentity, KeyPair>;
	mkdirSync(options.folder, { recursive: true });
	writeFileSync(join(options.folder, "ca.crt"), authority.certificate);
	for (const [identity, pair] of issued) {
		writeKeyPair(options.folder, identity, pair);
	}
	if (options.tokenKeys !== false) {
		writeTokenKeys(options.folder);
	}
	return { authority, pairs, folder: options.folder };
}

function writeTokenKeys(folder: string): void {
	// RSA, because API servers usually sign tokens with RS256.
	const tokens = generateKeyPairSync("rsa", {
		modulusLength: 2048,
		publicKeyEncoding: { type: "spki", format: "pem" },
		privateKeyEncoding: { type: "pkcs8", format: "pem" },
	});
	writeFileSync(join(folder, "sa.key"), tokens.privateKey, { mode: 0o600 });
	writeFileSync(join(folder, "sa.pub"), tokens.publicKey);
}

/** Issues the certificate that the agents of one cluster show to callers and peers. */
export function issueAgentCertificate(
	fleet: Authority,
	{
		clusterId,
		address = "127.0.0.1",
		...rest
	}: { readonly clusterId: string; readonly address?: string; readonly validForMs?: number },
): Promise<KeyPair> {
	return fleet.issue({
		commonName: "xpdb-agent",
		dnsNames: ["xpdb-agent.xpdb-system.svc"],
		ipAddresses: [address],
		uris: [memberUri(clusterId)],
		usages: ["server", "client"],
		...rest,
	});
}
