// Creates and signs the fleet's CA and the agents' certificates. Only this file loads the X.509 library, and it is loaded only to sign.
// Private keys are passed in and out as PEM and are not stored here.
import { createPrivateKey, type KeyObject, randomBytes, webcrypto } from "node:crypto";
import {
	AuthorityKeyIdentifierExtension,
	BasicConstraintsExtension,
	ExtendedKeyUsage,
	ExtendedKeyUsageExtension,
	KeyUsageFlags,
	KeyUsagesExtension,
	PemConverter,
	SubjectAlternativeNameExtension,
	SubjectKeyIdentifierExtension,
	X509Certificate,
	X509CertificateGenerator,
} from "@peculiar/x509";
import type { KeyPair } from "./key-pair.ts";

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const dayMs = 86_400_000;
const authorityDays = 3_650;
const agentDays = 365;
/** Backdated so that clusters whose clocks differ accept a new certificate immediately. */
const backdatedMs = 3_600_000;

/** Creates a CA that signs only agents' certificates. Each CA has its own name, because a fleet may have two at a time. */
export async function createAuthority(now: Date): Promise<KeyPair> {
	const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
	const certificate = await X509CertificateGenerator.createSelfSigned({
		serialNumber: serialNumber(),
		name: [{ CN: [`xpdb-fleet ${randomBytes(4).toString("hex")}`] }],
		notBefore: new Date(now.getTime() - backdatedMs),
		notAfter: new Date(now.getTime() + authorityDays * dayMs),
		keys,
		signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
		extensions: [
			new BasicConstraintsExtension(true, 0, true),
			new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
			await SubjectKeyIdentifierExtension.create(keys.publicKey),
		],
	});
	return pairOf(certificate, keys.privateKey);
}

export interface AgentCertificateRequest {
	/** Only for people. */
	readonly commonName: string;
	/** The name by which callers verify an agent. */
	readonly dnsName: string;
	/** Names the member. */
	readonly uri: string;
	readonly now: Date;
}

/**
 * Makes a new key and signs a certificate for it, which is valid for a year, or as long as the CA if that is less. Throws a TypeError if
 * the CA's kind of key cannot sign.
 */
export async function signAgentCertificate(
	authority: KeyPair,
	{ commonName, dnsName, uri, now }: AgentCertificateRequest,
): Promise<KeyPair> {
	const issuer = new X509Certificate(authority.certificate);
	const { key: signingKey, algorithm } = await signerOf(createPrivateKey(authority.key));
	const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
	const subjectKey = issuer.getExtension(SubjectKeyIdentifierExtension);
	const certificate = await X509CertificateGenerator.create({
		serialNumber: serialNumber(),
		subject: [{ CN: [commonName] }],
		issuer: issuer.subjectName,
		notBefore: new Date(Math.max(now.getTime() - backdatedMs, issuer.notBefore.getTime())),
		notAfter: new Date(Math.min(now.getTime() + agentDays * dayMs, issuer.notAfter.getTime())),
		publicKey: keys.publicKey,
		signingKey,
		signingAlgorithm: algorithm,
		extensions: [
			new BasicConstraintsExtension(false, undefined, true),
			new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
			new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
			new SubjectAlternativeNameExtension([
				{ type: "dns", value: dnsName },
				{ type: "url", value: uri },
			]),
			await SubjectKeyIdentifierExtension.create(keys.publicKey),
			// Must equal the CA's own key identifier. Otherwise verifiers do not find the CA.
			...(subjectKey ? [new AuthorityKeyIdentifierExtension(subjectKey.keyId)] : []),
		],
	});
	return pairOf(certificate, keys.privateKey);
}

const curves: Readonly<Record<string, readonly [curve: string, hash: string]>> = {
	prime256v1: ["P-256", "SHA-256"],
	secp384r1: ["P-384", "SHA-384"],
	secp521r1: ["P-521", "SHA-512"],
};

/** A user's own CA may have another kind of key than ours. */
async function signerOf(key: KeyObject): Promise<{
	readonly key: webcrypto.CryptoKey;
	readonly algorithm: { readonly name: string; readonly hash: string };
}> {
	const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
	const pkcs8 = key.export({ format: "der", type: "pkcs8" });
	if (type === "rsa") {
		const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
		return { key: await webcrypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]), algorithm };
	}
	const [namedCurve, hash] = curves[type === "ec" ? (details?.namedCurve ?? "") : ""] ?? [];
	if (namedCurve === undefined || hash === undefined) {
		throw new TypeError(`a CA's key is of RSA, P-256, P-384 or P-521, and this one is ${details?.namedCurve ?? type}`);
	}
	const name = "ECDSA";
	const signer = await webcrypto.subtle.importKey("pkcs8", pkcs8, { name, namedCurve }, false, ["sign"]);
	return { key: signer, algorithm: { name, hash } };
}

async function pairOf(certificate: X509Certificate, privateKey: webcrypto.CryptoKey): Promise<KeyPair> {
	const key = await webcrypto.subtle.exportKey("pkcs8", privateKey);
	return { certificate: `${certificate.toString("pem")}\n`, key: `${PemConverter.encode(key, "PRIVATE KEY")}\n` };
}

/** Some clients refuse a second certificate with the same issuer and serial number. A first byte below 0x80 keeps the number positive. */
function serialNumber(): string {
	return `01${randomBytes(15).toString("hex")}`;
}
