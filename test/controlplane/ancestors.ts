import { readFileSync } from "node:fs";

const lookEveryMs = 500;

/** `npm run` puts a shell and npm above us; a hard kill of either leaves us alone with nobody to stop us. */
export function watchAncestors(onGone: () => void): void {
	const parent = process.ppid;
	const npm = process.env["npm_lifecycle_event"] === undefined ? undefined : parentOf(parent);
	setInterval(() => {
		if (process.ppid !== parent || (npm !== undefined && parentOf(parent) !== npm)) onGone();
	}, lookEveryMs).unref();
}

function parentOf(pid: number): number | undefined {
	try {
		return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
	} catch {
		// No such file system, or no such process any more.
		return undefined;
	}
}
