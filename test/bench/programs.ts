// Runs the shipped programs as users start them, with a separate home directory.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Bench } from "./bench.ts";

/** Linux keeps the peak, so only growth after the last reading is missed. */
const lookEveryMs = 100;

type Program = "kubectl" | "kubectl-xpdb";

export function programPath({ fleet }: Bench, program: Program): string {
	return join(fleet.dir, "bin", program);
}

export function programEnvironment({ fleet }: Bench): Readonly<Record<string, string>> {
	return {
		PATH: [join(fleet.dir, "bin"), process.env["PATH"]].join(delimiter),
		HOME: join(fleet.dir, "home"),
		KUBECONFIG: fleet.kubeconfigPath,
	};
}

/** Rejects with the error output if the exit code is not 0. */
export function runProgram(
	bench: Bench,
	program: Program,
	args: readonly string[],
): Promise<{ readonly peakMb: number }> {
	return new Promise((resolve, reject) => {
		const child = spawn(programPath(bench, program), args, {
			env: { ...process.env, ...programEnvironment(bench) },
			stdio: ["ignore", "ignore", "pipe"],
		});
		let peakMb = 0;
		const timer = setInterval(() => {
			peakMb = Math.max(peakMb, peakMbOf(child.pid));
		}, lookEveryMs);
		let problems = "";
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			problems += text;
		});
		child.once("error", reject);
		child.once("close", (code) => {
			clearInterval(timer);
			if (code === 0) resolve({ peakMb });
			else reject(new Error(`${program} ${args.join(" ")} ended with ${code}: ${problems.trim()}`));
		});
	});
}

function peakMbOf(pid: number | undefined): number {
	try {
		return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
	} catch {
		// The process has just ended.
		return 0;
	}
}
