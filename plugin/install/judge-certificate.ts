// Finds what is wrong with the certificate of a cluster's agents, as the agents and their peers would.
import { createPrivateKey, type X509Certificate } from "node:crypto";
import { parseCertificates } from "../../proto/credentials.ts";
import { describeMember, findMemberId } from "../../proto/member-certificate.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { KeyPair } from "./key-pair.ts";

export interface CertificateWanted {
	/** The certificates of the trusted CAs, as PEM. */
	readonly ca: string;
	/** The name that the certificates of all agents have. */
	readonly serverName: string;
	readonly clusterId: string;
	readonly now: Date;
}

/** The problem of a certificate that is valid except for its CA. */
export const unknownAuthority = "not signed by a CA in xpdb-ca";

const serverAuth = "1.3.6.1.5.5.7.3.1";
const clientAuth = "1.3.6.1.5.5.7.3.2";

/** Returns why an agent could not use the certificate, or why peers that trust `ca` would refuse it; undefined if it is valid. */
export function certificateProblem(
	pair: KeyPair,
	{ ca, serverName, clusterId, now }: CertificateWanted,
): string | undefined {
	const read = readPair(pair);
	if (typeof read === "string") return read;
	const [certificate, ...chain] = read;
	if (!certificate) return "there is no certificate in it";
	const { subjectAltName, keyUsage: usages } = certificate;
	if (certificate.ca) return "it is the certificate of a CA";
	if (certificate.checkHost(serverName) === undefined) return `it is not for "${serverName}"`;
	if (findMemberId(subjectAltName) !== clusterId) {
		return `it is for ${describeMember(subjectAltName)}, not for cluster id "${clusterId}"`;
	}
	// A certificate without any extended key usage is valid for all uses.
	if (usages && ![serverAuth, clientAuth].every((usage) => usages.includes(usage))) {
		return "it is not for both servers and clients";
	}
	if (certificate.validToDate.getTime() <= now.getTime())
		return `it expired at ${certificate.validToDate.toISOString()}`;
	if (certificate.validFromDate.getTime() > now.getTime()) {
		return `it is not valid before ${certificate.validFromDate.toISOString()}`;
	}
	return isOf(certificate, { chain, authorities: readAuthorities(ca), now }) ? undefined : unknownAuthority;
}

/** Returns the certificates of a bundle; empty if it has none or cannot be read. */
export function readAuthorities(ca: string): readonly X509Certificate[] {
	try {
		return parseCertificates(ca, "the CA");
	} catch {
		return [];
	}
}

/** Returns why this pair cannot be a CA; undefined if it can. */
export function authorityProblem(authority: KeyPair, now: Date): string | undefined {
	const read = readPair(authority);
	if (typeof read === "string") return read;
	const [certificate, ...more] = read;
	if (!certificate || more.length > 0) return "there is not one certificate in it";
	if (!certificate.ca) return "it is not the certificate of a CA";
	if (certificate.validToDate.getTime() <= now.getTime())
		return `it expired at ${certificate.validToDate.toISOString()}`;
	return undefined;
}

/** Whether this CA itself signed the certificate, without intermediates. */
export function isSignedBy({ certificate }: KeyPair, authority: X509Certificate): boolean {
	const [first] = readAuthorities(certificate);
	return first !== undefined && first.checkIssued(authority) && first.verify(authority.publicKey);
}

function readPair({ certificate, key }: KeyPair): readonly X509Certificate[] | string {
	try {
		const certificates = parseCertificates(certificate, "the certificate");
		const isOwn = certificates[0]?.checkPrivateKey(createPrivateKey(key)) ?? false;
		return isOwn ? certificates : "its key is another one's";
	} catch (error) {
		return `it cannot be read: ${errorText(error)}`;
	}
}

function isOf(
	certificate: X509Certificate,
	{
		chain,
		authorities,
		now,
	}: {
		readonly chain: readonly X509Certificate[];
		readonly authorities: readonly X509Certificate[];
		readonly now: Date;
	},
): boolean {
	const signed = (by: X509Certificate): boolean => certificate.checkIssued(by) && certificate.verify(by.publicKey);
	if (authorities.some((authority) => signed(authority) && authority.validToDate.getTime() > now.getTime()))
		return true;
	const [next, ...rest] = chain;
	return next !== undefined && next.ca && signed(next) && isOf(next, { chain: rest, authorities, now });
}
