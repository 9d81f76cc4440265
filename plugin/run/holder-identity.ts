// Who holds a lease or a reservation, for other people's screens: "alice@laptop drain 7f3c2a".
import { hostname, userInfo } from "node:os";

export function holderIdentity(command: string, op: string): string {
	return `${userAtHost()} ${command} ${op}`;
}

export function userAtHost(): string {
	return `${userName()}@${hostname()}`;
}

function userName(): string {
	try {
		return userInfo().username;
	} catch {
		// A container may run as a user without an entry in /etc/passwd.
		return String(process.getuid?.() ?? "unknown");
	}
}
