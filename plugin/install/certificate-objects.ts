// Makes the objects that give agents their certificates, and the Secret that keeps the CA's key.
import { agentName } from "../../disruption/agent-names.ts";
import { memberUri } from "../../proto/member-certificate.ts";
import type { ClusterObject } from "./cluster-object.ts";
import type { KeyPair } from "./key-pair.ts";

/** In each cluster: the certificate that its agents present. */
export const agentSecret = "xpdb-agent-tls";
/** In each cluster: the CAs that its agents and the plugin trust. */
export const caConfigMap = "xpdb-ca";
export const caKey = "ca.crt";
/** The CA with its key: in each cluster if cert-manager signs with it, and otherwise in one, or in none if a user has the key. */
export const authoritySecret = "xpdb-fleet-ca";
/** In that Secret, during a change of CA: the new CA. */
export const nextCertificateKey = "next.crt";
export const nextPrivateKeyKey = "next.key";

export function agentSecretObject(namespace: string, pair: KeyPair): ClusterObject {
	return secretObject({ namespace, name: agentSecret }, pair);
}

export function caConfigMapObject(namespace: string, ca: string): ClusterObject {
	return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: caConfigMap, namespace }, data: { [caKey]: ca } };
}

/** `next`: the CA that replaces the current one. */
export interface KeptAuthority {
	readonly current: KeyPair;
	readonly next?: KeyPair;
}

export function authoritySecretObject(namespace: string, { current, next }: KeptAuthority): ClusterObject {
	const more = next && { [nextCertificateKey]: base64(next.certificate), [nextPrivateKeyKey]: base64(next.key) };
	return secretObject({ namespace, name: authoritySecret }, current, more);
}

export function authorityReference(namespace: string): ClusterObject {
	return { apiVersion: "v1", kind: "Secret", metadata: { name: authoritySecret, namespace } };
}

export interface CertificateIssuer {
	readonly kind: "Issuer" | "ClusterIssuer";
	readonly name: string;
}

export function issuerObject(namespace: string): ClusterObject {
	return {
		apiVersion: "cert-manager.io/v1",
		kind: "Issuer",
		metadata: { name: authoritySecret, namespace },
		spec: { ca: { secretName: authoritySecret } },
	};
}

export function certificateObject(
	namespace: string,
	{
		clusterId,
		serverName,
		issuer,
	}: { readonly clusterId: string; readonly serverName: string; readonly issuer: CertificateIssuer },
): ClusterObject {
	return {
		apiVersion: "cert-manager.io/v1",
		kind: "Certificate",
		metadata: { name: agentName, namespace },
		spec: {
			secretName: agentSecret,
			commonName: agentName,
			dnsNames: [serverName],
			uris: [memberUri(clusterId)],
			usages: ["digital signature", "server auth", "client auth"],
			privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
			duration: "8760h",
			renewBefore: "720h",
			issuerRef: { group: "cert-manager.io", kind: issuer.kind, name: issuer.name },
		},
	};
}

function secretObject(
	metadata: { readonly namespace: string; readonly name: string },
	{ certificate, key }: KeyPair,
	more: Readonly<Record<string, string>> = {},
): ClusterObject {
	const data = { "tls.crt": base64(certificate), "tls.key": base64(key), ...more };
	return { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/tls", data };
}

function base64(text: string): string {
	return Buffer.from(text).toString("base64");
}
