import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { SetupError } from "./setup-error.ts";

/** A command, kept so that it can be restarted with the same flags. */
export type ProcessSpec = {
	readonly name: string;
	readonly command: string;
	readonly args: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
	/** Gets stdout and stderr. A pipe would stall the child if its reader is busy or frozen. */
	readonly logFile: string;
};

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type ManagedProcess = {
	readonly name: string;
	readonly logFile: string;
	readonly pid: number;
	readonly running: boolean;
	/** Resolves when the current process has ended. A restart replaces the promise. */
	readonly exited: Promise<Exit>;
	freeze(): void;
	thaw(): void;
	/** Sends SIGTERM and does not wait. */
	terminate(): void;
	/** Sends SIGKILL and waits for the end. */
	kill(): Promise<void>;
	/** Sends SIGTERM, and SIGKILL after the grace period. */
	stop(graceMs?: number): Promise<Exit>;
	/** Runs the same command again. Throws if the process still runs. */
	restart(): void;
};

type Child = { readonly process: ChildProcess; readonly pid: number; readonly exited: Promise<Exit> };

let parentDeathSignal: boolean | undefined;

/** Wraps a command so that the kernel kills it when this process dies. Returns it unchanged on machines without setpriv. */
export function boundToParent(command: string, args: readonly string[]): { command: string; args: string[] } {
	parentDeathSignal ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"], { stdio: "ignore" }).status === 0;
	if (parentDeathSignal) {
		return { command: "setpriv", args: ["--pdeathsig", "KILL", command, ...args] };
	}
	return { command, args: [...args] };
}

// Without a parent death signal (macOS), this shell kills the listed processes when this process dies and its end of the pipe closes.
const reaperScript = `
trap '' INT TERM HUP
pids=' '
while read -r operation pid; do
	case $operation in
	add) pids="$pids$pid " ;;
	remove) pids=$(printf '%s' "$pids" | sed "s/ $pid / /") ;;
	esac
done
kill -9 $pids 2>/dev/null
`;
let reaper: ChildProcess | undefined;

function tellReaper(operation: "add" | "remove", pid: number): void {
	if (parentDeathSignal === true) {
		return;
	}
	if (reaper === undefined) {
		reaper = spawn("sh", ["-c", reaperScript], { stdio: ["pipe", "ignore", "ignore"], detached: true });
		reaper.unref();
		reaper.on("error", () => undefined);
		// The pipe alone must not keep this process alive.
		if (reaper.stdin !== null && "unref" in reaper.stdin && typeof reaper.stdin.unref === "function") {
			reaper.stdin.unref();
		}
		reaper.stdin?.on("error", () => undefined);
	}
	reaper.stdin?.write(`${operation} ${pid}\n`);
}

export function startProcess(spec: ProcessSpec): ManagedProcess {
	let child = launch(spec);
	let running = true;
	watch();

	function watch(): void {
		const current = child;
		running = true;
		void current.exited.then(() => {
			if (current === child) {
				running = false;
			}
		});
	}

	function signal(name: NodeJS.Signals): void {
		if (running) {
			child.process.kill(name);
		}
	}

	return {
		name: spec.name,
		logFile: spec.logFile,
		get pid() {
			return child.pid;
		},
		get running() {
			return running;
		},
		get exited() {
			return child.exited;
		},
		freeze: () => signal("SIGSTOP"),
		thaw: () => signal("SIGCONT"),
		terminate: () => signal("SIGTERM"),
		async kill() {
			signal("SIGKILL");
			await child.exited;
		},
		async stop(graceMs = 2000) {
			signal("SIGTERM");
			// A frozen process handles SIGTERM only after it continues.
			signal("SIGCONT");
			const abort = new AbortController();
			const timer = delay(graceMs, "late", { signal: abort.signal, ref: false }).catch(() => "cancelled");
			if ((await Promise.race([child.exited, timer])) === "late") {
				signal("SIGKILL");
			}
			abort.abort();
			return await child.exited;
		},
		restart() {
			if (running) {
				throw new Error(`Cannot restart "${spec.name}": process ${child.pid} is still running`);
			}
			child = launch(spec);
			watch();
		},
	};
}

function launch(spec: ProcessSpec): Child {
	const { command, args } = boundToParent(spec.command, spec.args);
	const log = openSync(spec.logFile, "a", 0o600);
	const started = spawn(command, args, {
		stdio: ["ignore", log, log],
		cwd: spec.cwd,
		env: { ...spec.env },
		// A separate session, so that Ctrl-C in the terminal reaches only this process, which ends the others in order.
		detached: true,
	});
	closeSync(log);
	if (started.pid === undefined) {
		started.on("error", () => undefined);
		throw new SetupError(`Cannot start "${spec.name}": "${spec.command}" cannot be executed`);
	}
	const pid = started.pid;
	tellReaper("add", pid);
	const exited = new Promise<Exit>((resolve) => {
		started.on("error", () => undefined);
		started.once("exit", (code, signal) => {
			tellReaper("remove", pid);
			resolve({ code, signal });
		});
	});
	return { process: started, pid, exited };
}

export function tailOf(logFile: string, lines = 5): string {
	try {
		return readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
	} catch {
		return "(no log)";
	}
}
