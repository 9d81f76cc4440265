// Compares resourceVersions. They are opaque before Kubernetes 1.35 and ordered since: decimal numbers of any length, ordered within one
// resource of one cluster. They are never compared across resources or clusters.
import { quote } from "./quote.ts";

/** Whether the text can be ordered: digits, without leading zeros. */
export function isResourceVersion(value: string): boolean {
	return /^(0|[1-9][0-9]*)$/.test(value);
}

/**
 * Returns a negative number if `a` is older than `b`, zero if they are equal, and a positive number if `a` is newer. "" is older than every
 * version. Throws TypeError for any other text, because a guessed order could let a stale view be counted.
 */
export function compareResourceVersions(a: string, b: string): number {
	assertOrdered(a);
	assertOrdered(b);
	if (a === b) return 0;
	// Without leading zeros, the longer number is greater, and numbers of equal length compare as texts.
	if (a.length !== b.length) return a.length < b.length ? -1 : 1;
	return a < b ? -1 : 1;
}

/** Returns the newest of these versions, or "" if there is none. */
export function latestResourceVersion(...versions: readonly string[]): string {
	let latest = "";
	for (const version of versions) if (compareResourceVersions(version, latest) > 0) latest = version;
	return latest;
}

function assertOrdered(version: string): void {
	if (version === "" || isResourceVersion(version)) return;
	throw new TypeError(`cannot order resourceVersion ${quote(version)}: it is not a decimal number`);
}
