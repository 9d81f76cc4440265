// The programs as people start them, with a home that no caches but those of this bench are in.
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import type { Bench } from "./bench.ts";

/** Resolves when it has ended with 0; rejects with what it said. */
export function runProgram(
	{ fleet }: Bench,
	program: "kubectl" | "kubectl-xpdb",
	args: readonly string[],
): Promise<void> {
	const bin = join(fleet.dir, "bin");
	return new Promise((resolve, reject) => {
		const child = spawn(join(bin, program), args, {
			env: {
				...process.env,
				PATH: [bin, process.env["PATH"]].join(delimiter),
				HOME: join(fleet.dir, "home"),
				KUBECONFIG: fleet.kubeconfigPath,
			},
			stdio: ["ignore", "ignore", "pipe"],
		});
		let problems = "";
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			problems += text;
		});
		child.once("error", reject);
		child.once("close", (code) => {
			if (code === 0) resolve();
			else reject(new Error(`${program} ${args.join(" ")} ended with ${code}: ${problems.trim()}`));
		});
	});
}
