// Builds and reads the holder of a Lease or a reservation, as other users see it: "alice@laptop drain 7f3c2a". It is a claim, and no
// decision relies on it.
import { hostname, userInfo } from "node:os";

export function holderIdentity(command: string, op: string): string {
	return `${userAtHost()} ${command} ${op}`;
}

export interface ClaimedHolder {
	/** For example "alice@laptop". If this program did not write the holder, its whole text. */
	readonly person: string;
	/** For example "drain 7f3c2a". Undefined if this program did not write the holder. */
	readonly operation?: string;
}

export function readHolder(holder: string): ClaimedHolder {
	const [, person, operation] = /^(\S+) ([a-z]+ [0-9a-f]{6})$/.exec(holder) ?? [];
	return person === undefined || operation === undefined ? { person: holder } : { person, operation };
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
