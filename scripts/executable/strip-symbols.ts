import { runCommand } from "../run-command.ts";

/** Those of binutils and LLVM; one for another processor leaves a file that it does not know as it was. */
const tools = ["strip", "llvm-strip", "aarch64-linux-gnu-strip", "x86_64-linux-gnu-strip"];

/** Takes the symbols out of an ELF file; false where no tool on this machine can. */
export async function stripSymbols(binary: string): Promise<boolean> {
	for (const tool of tools) {
		if ((await runCommand([tool, binary])).code === 0) return true;
	}
	return false;
}
