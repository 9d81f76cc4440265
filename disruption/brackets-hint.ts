/**
 * Returns what is wrong with this HOST:PORT, as the end of a message, if it is an IPv6 address without brackets: its last group looks like a
 * port. Otherwise returns "".
 */
export function bracketsHint(text: string): string {
	return /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text) ? ": write an IPv6 address as [ADDRESS]:PORT" : "";
}
