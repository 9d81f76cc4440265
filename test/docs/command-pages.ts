// Generates the parts of docs/commands/: the output of --help, and the exit codes.
import { commands } from "../../plugin/command-table.ts";
import { run } from "../../plugin/run-command.ts";
import { InterruptSource } from "../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../support/collected-streams.ts";
import { exitCodeMeanings } from "./exit-codes.ts";
import type { GeneratedParts } from "./generated-parts.ts";
import { code, codeBlock, table } from "./markdown-text.ts";

const names = commands.map(({ name }) => name);

export async function commandPages(): Promise<Readonly<Record<string, GeneratedParts>>> {
	const pages = names.map(async (name) => [`docs/commands/${pageOf(name)}.md`, await partsOf(name)] as const);
	return { "docs/commands/README.md": await partsOfIndex(), ...Object.fromEntries(await Promise.all(pages)) };
}

/** For example "leases-release" for "leases release". */
function pageOf(name: string): string {
	return name.replaceAll(" ", "-");
}

async function partsOf(name: string): Promise<GeneratedParts> {
	return {
		help: codeBlock("text", await say(...name.split(" "), "--help")),
		"exit codes": table(
			["Code", "Meaning"],
			exitCodeMeanings(names)
				.filter((exit) => exit.commands.includes(name))
				.map(({ code: number, means }) => [String(number), means]),
		),
	};
}

async function partsOfIndex(): Promise<GeneratedParts> {
	return {
		commands: table(
			["Command", "What it does"],
			commands.map(({ name, words, describe }) => [
				`[${code(`${name} ${words}`.trim())}](${pageOf(name)}.md)`,
				describe.replace(/^./, (letter) => letter.toLowerCase()),
			]),
		),
		"exit codes": table(
			["Code", "Meaning", "Commands"],
			exitCodeMeanings(names).map(({ code: number, means, commands: ending }) => [
				String(number),
				means,
				ending.length === names.length ? "all" : ending.map(code).join(", "),
			]),
		),
		options: codeBlock("text", await say("options")),
	};
}

async function say(...argv: readonly string[]): Promise<string> {
	const streams = collectStreams();
	const interrupts = new InterruptSource(() => undefined);
	const exit = await run(argv, { streams, env: {}, interrupts });
	if (exit !== 0) throw new Error(`kubectl xpdb ${argv.join(" ")} ends with ${exit}: ${streams.err()}`);
	return streams.out().trimEnd();
}
