// Builds one file from the plugin and Node. It needs no Node on the machine that it runs on, and loads no code of its own from the disk.
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../repository-root.ts";
import { runCommand } from "../run-command.ts";
import { nodeVersionOf } from "./node-version.ts";
import { partNames } from "./start-program.ts";

export interface ExecutableOptions {
	/** The folder that writeProgramParts() filled. Intermediate files go there, too. */
	readonly parts: string;
	readonly node: string;
	/** A Node of the same version that runs on this machine. It writes the blob that is put into `node`. */
	readonly maker: string;
	/** Whether to include V8's compiled code. Only the same version on the same kind of processor can use it. */
	readonly withCode: boolean;
	/** Removes the symbols, a sixth of the size. Returns false if no tool on this machine can. */
	readonly strip: (binary: string) => Promise<boolean>;
	readonly output: string;
}

/** Node looks for this text in its own file. It is the same in every version that supports single executables. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Builds the executable. The output appears only when it is complete, and a program that runs from the old file keeps running. */
export async function buildExecutable(options: ExecutableOptions): Promise<void> {
	const [wanted, own] = [options.node, options.maker].map((path) => nodeVersionOf(readFileSync(path)));
	if (wanted !== own) {
		throw new Error(
			`Cannot put what Node ${own} writes into Node ${wanted}: it may abort on it. Take the same version`,
		);
	}
	const unfinished = `${options.output}.building-${process.pid}`;
	try {
		const blob = await writeBlob(options);
		copyFileSync(options.node, unfinished);
		chmodSync(unfinished, 0o755);
		// Strip before the program is put in. Afterwards, the tool would silently remove the program, too.
		await options.strip(unfinished);
		await mustRun("put the program into Node", [
			process.execPath,
			join(repositoryRoot, "node_modules", "postject", "dist", "cli.js"),
			unfinished,
			"NODE_SEA_BLOB",
			blob,
			"--sentinel-fuse",
			fuse,
			"--macho-segment-name",
			"NODE_SEA",
		]);
		// Without this mark, Node silently ignores the program in it.
		if (!readFileSync(unfinished).includes(`${fuse}:1`))
			throw new Error("Node was not told that there is a program in it");
		renameSync(unfinished, options.output);
	} finally {
		rmSync(unfinished, { force: true });
	}
}

/** Writes the blob that is put into Node, and returns its path. The same parts make the same bytes in every folder. */
export async function writeBlob({
	parts,
	maker,
	withCode,
}: Pick<ExecutableOptions, "parts" | "maker" | "withCode">): Promise<string> {
	const codes = readdirSync(parts)
		.filter((file) => file.endsWith(".code"))
		.toSorted();
	const files = [...partNames.map((name) => `${name}.js`), ...(withCode ? codes : [])];
	const [blob, config] = ["program.blob", "executable.json"];
	const settings = {
		// Node keeps this path in the blob, so it must not name a folder of this machine.
		main: "loader.js",
		output: blob,
		disableExperimentalSEAWarning: true,
		// NODE_OPTIONS of another program must not load code into this one, nor stop it.
		execArgvExtension: "none",
		// --min-semi-space-size: a call makes some MB of garbage before it ends. Room for it costs less than four collections.
		//
		// --max-semi-space-size: without the memory reducer, V8 would never give back a larger space, and a screen can run for hours.
		//
		// --no-memory-reducer: an idle screen should cost nothing. The reducer would collect the whole heap twice in the first half minute, and
		// each collection takes as much processor time as 20 seconds of the screen.
		//
		// --use-openssl-ca: loads no authorities at the start, because few calls need them (plugin/kubernetes/public-authorities.ts).
		execArgv: ["--use-openssl-ca", "--min-semi-space-size=8", "--max-semi-space-size=16", "--no-memory-reducer"],
		assets: Object.fromEntries(files.map((file) => [file, file])),
	};
	writeFileSync(join(parts, config), JSON.stringify(settings));
	await mustRun("write what is put into Node", [maker, "--experimental-sea-config", config], parts);
	return join(parts, blob);
}

async function mustRun(what: string, command: readonly [string, ...string[]], folder?: string): Promise<void> {
	const { code, output } = await runCommand(command, folder === undefined ? {} : { folder });
	if (code !== 0) throw new Error(`Cannot ${what}: ${output}`);
}
