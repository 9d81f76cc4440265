// Builds the plugin as one file. The build keeps all processors busy for seconds, so all suites of a run share it.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { runCommand } from "../../scripts/run-command.ts";

const dist = join(repositoryRoot, "dist");
const executable = join(dist, process.platform === "win32" ? "kubectl-xpdb.exe" : "kubectl-xpdb");
const lock = join(dist, "executable.lock");
const pidFile = join(lock, "pid");
/** Longer than the time between making the lock and writing the process ID. */
const unsignedLockMs = 2_000;

/** Returns the path of dist/kubectl-xpdb, after building it if it is not newer than the bundle. Concurrent suites wait for one build. */
export async function shippedExecutable(): Promise<string> {
	while (!takeLock()) await delay(200);
	try {
		if (modifiedMs(executable) > modifiedMs(join(dist, "kubectl-xpdb.js"))) return executable;
		const { code, output } = await runCommand([process.execPath, "scripts/executable/main.ts"]);
		if (code !== 0) throw new Error(output);
		return executable;
	} finally {
		rmSync(lock, { recursive: true, force: true });
	}
}

function modifiedMs(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function takeLock(): boolean {
	try {
		mkdirSync(lock);
	} catch {
		if (isAbandoned()) rmSync(lock, { recursive: true, force: true });
		return false;
	}
	writeFileSync(pidFile, String(process.pid));
	return true;
}

function isAbandoned(): boolean {
	try {
		process.kill(Number(readFileSync(pidFile, "utf8")), 0);
		return false;
	} catch {
		return Date.now() - modifiedMs(lock) > unsignedLockMs;
	}
}
