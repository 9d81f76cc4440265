// Runs `npm start` with its own folder for temporary files, so that a test finds everything that is left behind.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { repositoryRoot } from "../../scripts/repository-root.ts";

export interface StartedDemonstration extends AsyncDisposable {
	readonly child: ChildProcess;
	readonly temporary: string;
	readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
	output(): string;
	/** Resolves when the output contains this text. Rejects if the process ends first. */
	printed(text: string): Promise<void>;
	/** Returns the IDs of its processes that still run. */
	processes(): readonly string[];
	/** Resolves when no process and no file is left. */
	vanished(): Promise<void>;
}

const waitMs = 150_000;

export function startDemonstration(
	args: readonly string[] = [],
	{
		temporary = mkdtempSync(join(tmpdir(), "xpdb-test-")),
		throughNpm = false,
	}: { readonly temporary?: string; readonly throughNpm?: boolean } = {},
): StartedDemonstration {
	const [program, ...first] = throughNpm
		? ["npm", "start", "--silent", "--"]
		: [process.execPath, join("scripts", "start.cjs")];
	const child = spawn(program ?? "", [...first, ...args], {
		cwd: repositoryRoot,
		stdio: ["ignore", "pipe", "pipe"],
		// A process group of its own, as in a terminal, where Ctrl-C reaches the whole group.
		detached: true,
		env: {
			...process.env,
			TMPDIR: temporary,
			NO_COLOR: "1",
			PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
		},
	});
	let output = "";
	const listeners = new Set<() => void>();
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (text: string) => {
			output += text;
			for (const listener of listeners) listener();
		});
	}
	let isOver = false;
	const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
		child.once("error", reject);
		// Not "exit", because the last output may arrive after it.
		child.once("close", (code, signal) => {
			isOver = true;
			for (const listener of listeners) listener();
			resolve({ code, signal });
		});
	});
	const processes = () => processesIn(temporary);
	return {
		child,
		temporary,
		ended,
		output: () => output,
		processes,
		printed: (text) =>
			new Promise((resolve, reject) => {
				const look = (): void => {
					if (!output.includes(text) && !isOver) return;
					listeners.delete(look);
					if (output.includes(text)) resolve();
					else reject(new Error(`It ended and never printed "${text}":\n${output}`));
				};
				listeners.add(look);
				look();
			}),
		async vanished() {
			const end = performance.now() + waitMs;
			for (;;) {
				// npm keeps its own compiled code there.
				const files = readdirSync(temporary).filter((name) => name !== "node-compile-cache");
				const left = [...processes(), ...files];
				if (left.length === 0) return;
				if (performance.now() > end) throw new Error(`Left behind: ${left.join(", ")}\n${output}`);
				await delay(50);
			}
		},
		async [Symbol.asyncDispose]() {
			if (!isOver) child.kill("SIGKILL");
			for (const pid of processes()) process.kill(Number(pid), "SIGKILL");
			await ended;
			rmSync(temporary, { recursive: true, force: true });
		},
	};
}

/** Returns the IDs of the processes with a path in this folder in their environment. Empty except on Linux. */
function processesIn(folder: string): string[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc").filter((entry) => {
		if (!/^\d+$/.test(entry)) return false;
		try {
			return readFileSync(`/proc/${entry}/environ`, "utf8").includes(`=${folder}`);
		} catch {
			// The process has ended, or belongs to another user.
			return false;
		}
	});
}
