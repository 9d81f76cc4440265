// Writes and reads the member of a fleet that a certificate names. Its subject alternative names contain one URI, xpdb://cluster/ID, where
// ID is the UID of that cluster's kube-system namespace. Only the CA that signs the certificate decides which member it names.

const prefix = "xpdb://cluster/";

export function memberUri(clusterId: string): string {
	return `${prefix}${clusterId}`;
}

/**
 * Finds the cluster id in subject alternative names as Node writes them (`DNS:a.svc, URI:xpdb://cluster/ID`). Undefined if there is none or
 * more than one, because a certificate of two members identifies neither.
 */
export function findMemberId(subjectAltName: string | undefined): string | undefined {
	// Node quotes names that contain commas, quotes or control characters. Our names contain none of these.
	const names = (subjectAltName ?? "").replaceAll(/"(?:[^"\\]|\\.)*"/g, "").split(", ");
	const [uri, ...more] = names.filter((name) => name.startsWith(`URI:${prefix}`));
	if (uri === undefined || more.length > 0) return undefined;
	return /^[A-Za-z0-9._-]{1,253}$/.exec(uri.slice(`URI:${prefix}`.length))?.[0];
}

export function describeMember(subjectAltName: string | undefined): string {
	const id = findMemberId(subjectAltName);
	return id === undefined ? `no one cluster (no URI ${memberUri("ID")})` : `cluster id "${id}"`;
}
