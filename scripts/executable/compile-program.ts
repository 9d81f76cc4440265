// V8's code of the parts, from a few calls of the program: what every one of them needs, so that no call compiles it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";

const compiler = fileURLToPath(import.meta.resolve("./compile-parts.ts"));
/** Refuses every connection, at once. */
const nowhere = ["--kubeconfig=/dev/null", "--server=https://127.0.0.1:1"];
const calls = [
	["version", "--client"],
	["drain", "--help"],
	["budgets", ...nowhere],
	["drain", "node", "--dry-run=client", ...nowhere],
];

/** Leaves a .code file beside each part that a call has loaded. */
export async function compileProgram(maker: string, folder: string): Promise<void> {
	for (const words of calls) {
		const { output } = await runCommand([maker, compiler, folder, ...words]);
		if (!existsSync(join(folder, "plugin.code"))) throw new Error(`Cannot compile the program: ${output}`);
	}
}
