/** Accepts addresses as Node writes them: a socket for both IP versions adds a prefix to IPv4 addresses. */
export function isLoopback(address: string): boolean {
	return address === "::1" || address.replace("::ffff:", "") === "127.0.0.1";
}
