// V8's code of the parts, from a few calls of the program: what every one of them needs, so that no call compiles it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";
import { codeFileOf } from "./start-program.ts";
import { startTrainingServer } from "./training-server.ts";

const compiler = fileURLToPath(import.meta.resolve("./compile-parts.ts"));
/** Refuses every connection, at once. */
const nowhere = "https://127.0.0.1:1";

/** A call takes a second; on a machine that is busy with other things many. */
const endsWithinMs = 120_000;

/** Leaves .code files beside the parts that calls have loaded. */
export async function compileProgram(maker: string, folder: string): Promise<void> {
	const call = async (streams: "pipes" | "terminal", words: readonly string[], server = nowhere): Promise<void> => {
		const where = ["--kubeconfig=/dev/null", `--server=${server}`, "--token=token"];
		const [command = "", ...more] = words;
		const all = command === "version" || words.includes("--help") ? words : [command, ...where, ...more];
		const tooLong = AbortSignal.timeout(endsWithinMs);
		const { output } = await runCommand([maker, compiler, folder, streams, ...all], { signal: tooLong });
		const code = join(folder, codeFileOf("plugin", all));
		if (tooLong.aborted || !existsSync(code)) throw new Error(`Cannot compile the program: ${output}`);
	};
	const withAnswers = async (
		streams: "pipes" | "terminal",
		words: readonly string[],
		hasAgent: boolean,
	): Promise<void> => {
		const server = await startTrainingServer({ hasAgent });
		try {
			await call(streams, words, server.address);
		} finally {
			server.close();
		}
	};
	await call("pipes", ["version", "--client"]);
	await withAnswers("pipes", ["__complete", "evict", ""], false);
	await call("pipes", ["drain", "--help"]);
	await call("pipes", ["budgets"]);
	await call("terminal", ["budgets", "-w"]);
	await withAnswers("pipes", ["budgets"], true);
	await withAnswers("pipes", ["evict", "pod"], true);
	await withAnswers("pipes", ["evict", "pod"], false);
	await withAnswers("pipes", ["drain", "node"], false);
}
