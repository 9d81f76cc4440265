// Compiles the parts with V8 by running a few calls of the program, so that later calls need not compile the same code.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";
import { codeFileOf } from "./start-program.ts";
import { startTrainingFleet } from "./training-fleet.ts";

const compiler = fileURLToPath(import.meta.resolve("./compile-parts.ts"));
/** An API server that refuses every connection at once. */
const nowhere = ["--kubeconfig=/dev/null", "--server=https://127.0.0.1:1", "--token=token"];

/** With one thread and fixed hashes, the code of the same functions has the same bytes. V8 accepts such code without these flags, too. */
const alwaysAlike = ["--predictable", "--random-seed=1"];

/** A call takes a second, and many seconds on a busy machine. */
const endsWithinMs = 120_000;

/** Writes a .code file next to each part that the calls have loaded. */
export async function compileProgram(maker: string, folder: string): Promise<void> {
	const call = async (streams: "pipes" | "terminal", ...words: readonly string[]): Promise<void> => {
		const tooLong = AbortSignal.timeout(endsWithinMs);
		const { output } = await runCommand([maker, ...alwaysAlike, compiler, folder, streams, ...words], {
			signal: tooLong,
			// The cache of an earlier build would name agents that no longer exist.
			environment: { KUBECACHEDIR: join(folder, "cache") },
		});
		const code = join(folder, codeFileOf("plugin", words));
		if (tooLong.aborted || !existsSync(code)) throw new Error(`Cannot compile the program: ${output}`);
	};
	await using fleet = await startTrainingFleet();
	const where = [`--kubeconfig=${fleet.kubeconfig}`, "--context=eu-operator"];
	await call("pipes", "version", "--client");
	await call("pipes", "__complete", "evict", ...where, "");
	await call("pipes", "drain", "--help");
	await call("pipes", "budgets", ...nowhere);
	await call("terminal", "budgets", "-w", ...nowhere);
	await call("pipes", "drain", fleet.node, ...where, "--dry-run=server", "--ignore-daemonsets");
	await call("pipes", "budgets", ...where);
	await call("pipes", "evict", "db-0", ...where, "-y");
	await call("pipes", "evict", "-l=app.kubernetes.io/name=xpdb-agent", "-n=xpdb-system", ...where, "--dry-run=server");
}
