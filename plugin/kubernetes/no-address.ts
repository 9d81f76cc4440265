// Saves 4 to 6 ms per start: Node compiles a long IPv6 pattern to check whether a TLS server name is an IP address. Every IPv6 address
// contains a colon, and names hardly ever do.
import net from "node:net";

/** Calls net.isIP only for text with a colon. */
export function createIsIP({ isIP, isIPv4 }: Pick<typeof net, "isIP" | "isIPv4">): typeof net.isIP {
	return (text) => {
		if (typeof text !== "string" || text.includes(":")) return isIP(text);
		return isIPv4(text) ? 4 : 0;
	};
}

/** Makes Node's own modules use the faster check from now on. */
export function answerWithoutPattern(): void {
	Object.assign(net, { isIP: createIsIP(net) });
}
