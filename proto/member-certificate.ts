// Which member of a fleet a certificate is for: its subject alternative names have one URI, xpdb://cluster/ID, where ID is
// the UID of that cluster's kube-system namespace. Whoever signs it says so, and nobody else can.

const prefix = "xpdb://cluster/";

/** The URI for the certificate of the agents of that cluster. */
export function memberUri(clusterId: string): string {
	return `${prefix}${clusterId}`;
}

/**
 * The cluster id in subject alternative names as Node writes them (`DNS:a.svc, URI:xpdb://cluster/ID`). Undefined where
 * there is none, or more than one: a certificate of two members names neither.
 */
export function findMemberId(subjectAltName: string | undefined): string | undefined {
	// Node puts names with commas, quotes or control characters into quotes. Ours has none of these.
	const names = (subjectAltName ?? "").replaceAll(/"(?:[^"\\]|\\.)*"/g, "").split(", ");
	const [uri, ...more] = names.filter((name) => name.startsWith(`URI:${prefix}`));
	if (uri === undefined || more.length > 0) return undefined;
	return /^[A-Za-z0-9._-]{1,253}$/.exec(uri.slice(`URI:${prefix}`.length))?.[0];
}

/** For people: what a certificate names instead. */
export function describeMember(subjectAltName: string | undefined): string {
	const id = findMemberId(subjectAltName);
	return id === undefined ? `no one cluster (no URI ${memberUri("ID")})` : `cluster id "${id}"`;
}
