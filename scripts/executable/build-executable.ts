// The plugin and Node in one file: needs nothing of the machine that it runs on, and loads nothing from its disk.
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../repository-root.ts";
import { runCommand } from "../run-command.ts";
import { nodeVersionOf } from "./node-version.ts";
import { partNames } from "./start-program.ts";

export interface ExecutableOptions {
	/** What writeProgramParts() left; what is made on the way goes there too. */
	readonly parts: string;
	/** The Node that becomes the program. */
	readonly node: string;
	/** One of the same version that runs here: it writes what is put into the other. */
	readonly maker: string;
	/** Whether the code goes along that V8 compiled of the parts. It is of use to the same version on the same kind of processor alone. */
	readonly withCode: boolean;
	/** Without its symbols, a sixth of its size; false where no tool here can take them out. */
	readonly strip: (binary: string) => Promise<boolean>;
	readonly output: string;
}

/** What Node looks for in itself; the same in every version that can do this. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** The output is there when it is complete, and a program that runs from the old one goes on. */
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
		// Before: afterwards the tool would take the program out too, and say nothing.
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
		// Without it Node starts as Node, and says nothing of a program in it.
		if (!readFileSync(unfinished).includes(`${fuse}:1`))
			throw new Error("Node was not told that there is a program in it");
		renameSync(unfinished, options.output);
	} finally {
		rmSync(unfinished, { force: true });
	}
}

/** What is put into Node: the same bytes of the same parts, wherever they lie. Its path. */
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
		// Node keeps this path in what it writes: it must not name a folder of this machine.
		main: "loader.js",
		output: blob,
		disableExperimentalSEAWarning: true,
		// NODE_OPTIONS of some other program must not load code into this one, nor stop it.
		execArgvExtension: "none",
		// A call makes some MB of garbage before it ends: room for it costs less than to collect it four times over. More room than twice that
		// is never given back where nothing makes a heap smaller, and a screen that is watched for hours would take it.
		// And a screen in which nothing happens is left alone: to make its heap smaller V8 would collect all of it twice in its first
		// half minute, each time for as much of a processor as the screen takes in twenty seconds.
		// And without authorities that are hardly ever asked for: plugin/kubernetes/public-authorities.ts.
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
