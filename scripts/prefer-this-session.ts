import { writeFileSync } from "node:fs";

/** Three times the share of a session with the usual priority, 0. */
const preferred = -5;

/**
 * Linux may share the processors among sessions first, and each program of a real cluster is a session of its own. So this session, with all
 * tests and all runs of the plugin, would get as much as one API server. Gives it more until the process ends, where the user may do that.
 */
export function preferThisSession(): void {
	const file = "/proc/self/autogroup";
	try {
		writeFileSync(file, String(preferred));
		process.once("exit", () => writeFileSync(file, "0"));
	} catch {
		// Another system, a kernel without groups of sessions, or a user who may not.
	}
}
