// Compares addresses. The same IPv6 address can be written in many ways, and people write addresses into the list of members.
import { isIPv6 } from "node:net";

/** Returns HOST:PORT with the host in the one way that all its other spellings have too. */
export function canonicalAddress(address: string): string {
	const [, host = "", rest = ""] = /^\[(.*)\](.*)$/.exec(address) ?? [];
	const url = `http://[${host}]`;
	return isIPv6(host) && URL.canParse(url) ? new URL(url).hostname + rest : address.toLowerCase();
}

export function isSameAddress(one: string, other: string): boolean {
	return canonicalAddress(one) === canonicalAddress(other);
}
