import { runCommand } from "../run-command.ts";

/** Tools of binutils and LLVM. A tool for another processor leaves an unknown file unchanged. */
const tools = ["strip", "llvm-strip", "aarch64-linux-gnu-strip", "x86_64-linux-gnu-strip"];

/** Removes the symbols of an ELF file. Returns false if no tool on this machine can. */
export async function stripSymbols(binary: string): Promise<boolean> {
	for (const tool of tools) {
		if ((await runCommand([tool, binary])).code === 0) return true;
	}
	return false;
}
