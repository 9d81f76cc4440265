// The programs as people start them, with a home that no caches but those of this bench are in.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runCommand } from "../../scripts/run-command.ts";
import type { Bench } from "./bench.ts";

/** As Linux keeps it: no look is too late for a peak, only for the last moment. */
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

/** The plugin as people install it, in a folder for kubectl to find it; what else is measured here is the bundle, which needs no such build. */
export async function buildShippedPlugin({ fleet }: Bench): Promise<string> {
	const folder = join(fleet.dir, "shipped");
	mkdirSync(folder, { recursive: true });
	const { code, output } = await runCommand([process.execPath, "scripts/executable/main.ts", "--folder", folder]);
	if (code !== 0) throw new Error(`Cannot build the plugin as it is shipped: ${output.trim()}`);
	return folder;
}

/**
 * Resolves when it has ended with 0, with the most memory that it held; rejects with what it said. `shipped`: the folder of the plugin that
 * runs, or that kubectl runs, in the place of the bundle.
 */
export function runProgram(
	bench: Bench,
	program: Program,
	args: readonly string[],
	{ shipped }: { readonly shipped?: string } = {},
): Promise<{ readonly peakMb: number }> {
	return new Promise((resolve, reject) => {
		const env = { ...process.env, ...programEnvironment(bench) };
		if (shipped !== undefined) env["PATH"] = [shipped, env["PATH"]].join(delimiter);
		const path =
			shipped !== undefined && program === "kubectl-xpdb" ? join(shipped, program) : programPath(bench, program);
		const child = spawn(path, args, {
			env,
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
		// It has just ended.
		return 0;
	}
}
