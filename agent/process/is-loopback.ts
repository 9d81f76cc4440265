/** Whether the address is the loopback address, as Node writes it: a socket for both IP versions gives IPv4 addresses a prefix. */
export function isLoopback(address: string): boolean {
	return address === "::1" || address.replace("::ffff:", "") === "127.0.0.1";
}
