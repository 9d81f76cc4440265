import { readFileSync } from "node:fs";

const lookEveryMs = 500;
/** Enough for npm, its shell, and a script that starts another. */
const maxAncestors = 4;

/** Calls back when the parent process, or an ancestor up to npm, is gone. No other process would then stop this one. */
export function watchAncestors(onGone: () => void): void {
	const chain = [process.ppid];
	if (process.env["npm_lifecycle_event"] !== undefined) {
		for (let pid = process.ppid; !isNpm(pid) && chain.length < maxAncestors; ) {
			const parent = parentOf(pid);
			if (parent === undefined || parent <= 1) break;
			chain.push(parent);
			pid = parent;
		}
		// A chain that does not reach npm contains unrelated processes.
		if (!isNpm(chain.at(-1) ?? 0)) chain.length = 1;
	}
	setInterval(() => {
		const isIntact = chain.every((pid, at) => (at === 0 ? process.ppid : parentOf(chain[at - 1] ?? 0)) === pid);
		if (!isIntact) onGone();
	}, lookEveryMs).unref();
}

function isNpm(pid: number): boolean {
	return /^npm\b|npm-cli/.test(read(pid, "cmdline").replaceAll("\0", " "));
}

function parentOf(pid: number): number | undefined {
	const [, parent] = /\) \S (\d+)/.exec(read(pid, "stat")) ?? [];
	return parent === undefined ? undefined : Number(parent);
}

function read(pid: number, file: "cmdline" | "stat"): string {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "utf8");
	} catch {
		// There is no /proc, or the process is gone.
		return "";
	}
}
