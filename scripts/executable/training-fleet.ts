// Only for the build: starts real agents behind small API servers, so that V8 compiles what the plugin does with answers, TLS and tunnels.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { repositoryRoot } from "../repository-root.ts";

export interface TrainingFleet extends AsyncDisposable {
	readonly kubeconfig: string;
	/** A node of cluster "eu" with a pod "db-0" in namespace "default". The pod has a budget. */
	readonly node: string;
}

export async function startTrainingFleet(): Promise<TrainingFleet> {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-training-"));
	const program = join(repositoryRoot, "demo", "training-fleet.ts");
	const child = spawn(process.execPath, [program, folder], { stdio: ["pipe", "pipe", "inherit"] });
	const exited = once(child, "exit");
	const stop = async (): Promise<void> => {
		child.stdin.end();
		await exited;
		rmSync(folder, { recursive: true, force: true });
	};
	const lines = createInterface({ input: child.stdout });
	const [line] = await Promise.race([once(lines, "line"), exited]);
	if (typeof line !== "string") {
		await stop();
		throw new Error("Cannot compile the program: the clusters that it is tried on did not start");
	}
	const { kubeconfig, node }: { readonly kubeconfig: string; readonly node: string } = JSON.parse(line);
	return { kubeconfig, node, [Symbol.asyncDispose]: stop };
}
