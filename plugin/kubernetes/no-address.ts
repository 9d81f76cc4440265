// Node asks of every name in TLS whether it is an IP address, and compiles the long pattern of IPv6 for that: 4 to 6 ms of each start.
// No IPv6 address is without a colon, and hardly a name has one.
import net from "node:net";

/** As net.isIP, which it asks for everything else. */
export function createIsIP({ isIP, isIPv4 }: Pick<typeof net, "isIP" | "isIPv4">): typeof net.isIP {
	return (text) => {
		if (typeof text !== "string" || text.includes(":")) return isIP(text);
		return isIPv4(text) ? 4 : 0;
	};
}

/** From now on Node's own modules ask this one. */
export function answerWithoutPattern(): void {
	Object.assign(net, { isIP: createIsIP(net) });
}
