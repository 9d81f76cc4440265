import { isIPv6 } from "node:net";

/**
 * Returns the network of which one machine may have every address: the first half of an IPv6 address, which providers and cluster networks
 * assign as a whole. An IPv4 address is a network of its own, also in the form that a socket for both IP versions gives it.
 */
export function networkOf(address: string): string {
	if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
	const [head = "", tail] = address.replace(/%.*$/, "").split("::");
	const first = groupsOf(head);
	const last = groupsOf(tail ?? "");
	const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
	return `${[...first, ...zeros, ...last].slice(0, 4).join(":")}::/64`;
}

/** An IPv4 address at the end is two groups. */
function groupsOf(text: string): readonly string[] {
	return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? [group, group] : [group]));
}
