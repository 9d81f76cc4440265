// Linux may share the processors among sessions first, and only then among their processes. Each program of a real cluster is a session of
// its own, so a process' priority alone says nothing beside them.
import { writeFileSync } from "node:fs";

/** Three times the share of a session with the usual priority, 0. */
const preferred = -5;

/** Returns false if the session keeps its priority: on another system, on a kernel without groups of sessions, or without the right. */
export function setSessionPriority(pid: number | "self", priority: number): boolean {
	try {
		writeFileSync(`/proc/${pid}/autogroup`, String(priority));
		return true;
	} catch {
		return false;
	}
}

/**
 * Without this, this session, with all tests and all runs of the plugin, would get as much as one API server. Gives it more until the process
 * ends, where the user may do that.
 */
export function preferThisSession(): void {
	if (setSessionPriority("self", preferred)) process.once("exit", () => setSessionPriority("self", 0));
}
