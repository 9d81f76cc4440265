// Who holds a lease or a reservation, for other people's screens: "alice@laptop drain 7f3c".
import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";

export function holderIdentity(command: string): string {
	return `${userName()}@${hostname()} ${command} ${randomBytes(2).toString("hex")}`;
}

function userName(): string {
	try {
		return userInfo().username;
	} catch {
		// A container may run as a user without an entry in /etc/passwd.
		return String(process.getuid?.() ?? "unknown");
	}
}
