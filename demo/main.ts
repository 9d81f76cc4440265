// The entry point of `npm start`, under the Node that scripts/start.cjs installs: options, signals and exit codes.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isatty } from "node:tty";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { demonstrate } from "./demonstration.ts";
import { watchAncestors } from "./machine/ancestors.ts";
import { messageOf, SetupError } from "./machine/setup-error.ts";
import { Narrator } from "./narrator.ts";

/** Thrown when the story is stopped early: by a signal, by Ctrl-C in the plugin's screen, by a closed output, or because its parent has ended. */
class Interruption extends Error {
	override readonly name = "Interruption";
	readonly exitCode: number;

	constructor(exitCode: number) {
		super("interrupted");
		this.exitCode = exitCode;
	}
}

const stop = new AbortController();

function interrupt(exitCode: number): void {
	// A second Ctrl-C exits at once. The other processes notice that and end by themselves.
	if (stop.signal.aborted && exitCode === 130) process.exit(130);
	stop.abort(new Interruption(exitCode));
}

async function main(): Promise<void> {
	const { keep, port, plugin } = await yargs(hideBin(process.argv))
		.scriptName("npm start --")
		.usage("$0 [--keep]\n\nDrains one node in each of three small clusters, under one budget. Nothing is left behind.")
		.option("keep", { type: "boolean", default: false, describe: "Keep the clusters until Ctrl-C, to try things" })
		.option("port", { type: "number", default: 0, describe: "Port of the first API server; left out, any" })
		.option("plugin", { type: "string", describe: "The kubectl-xpdb that drains; left out, that of this folder" })
		.check(({ port, plugin }) => {
			if (plugin !== undefined && !existsSync(plugin)) throw new Error(`--plugin: there is no ${plugin}`);
			if (Number.isInteger(port) && port >= 0 && port <= 65_533) return true;
			throw new Error("--port must be a port from 1 to 65533");
		})
		.strict()
		.demandCommand(0, 0, "", "An argument that is no option means nothing here")
		.showHelpOnFail(false, "Run it with --help to see all options")
		.version(false)
		.parse();
	const dir = makeFolder();
	try {
		const narrator = new Narrator(process.stdout, () => interrupt(0));
		const hasTerminal = [0, 1, 2].every((stream) => isatty(stream));
		const given = plugin === undefined ? {} : { plugin: resolve(plugin) };
		await demonstrate({
			narrator,
			dir,
			port,
			keep,
			...given,
			hasTerminal,
			signal: stop.signal,
			onStopped: interrupt,
		});
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}

function makeFolder(): string {
	try {
		return mkdtempSync(join(tmpdir(), "xpdb-start-"));
	} catch (error) {
		throw new SetupError(`Cannot write to the folder "${tmpdir()}": ${messageOf(error)}`, {
			hint: "Set TMPDIR to a folder of yours",
			cause: error,
		});
	}
}

process.on("SIGINT", () => interrupt(130));
for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => interrupt(143));
watchAncestors(() => interrupt(143));
// The reader of stderr may be gone.
process.stderr.on("error", () => undefined);

try {
	await main();
	process.exit(0);
} catch (error) {
	if (error instanceof Interruption) process.exit(error.exitCode);
	if (!(error instanceof SetupError)) throw error;
	console.error(`error: ${error.message}${error.hint === undefined ? "" : `\n${error.hint}`}`);
	process.exit(1);
}
