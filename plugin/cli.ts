// The command line: pflag's reading of arguments (flags/pflag.ts), then yargs' flags, lists and defaults of the command. Help, values
// and suggestions are ours: yargs has neither kubectl's form of help nor its words for what is wrong (flags/help-text.ts,
// flag-value.ts, nearest.ts).
import { Parser } from "yargs/helpers";
import { commands } from "./command-table.ts";
import type { Command, CommandInput } from "./flags/command.ts";
import type { FlagTable } from "./flags/flag.ts";
import { readFlagValue } from "./flags/flag-value.ts";
import { globalFlags, readGlobalFlags } from "./flags/global-flags.ts";
import { commandText, optionsText, overviewText, programName } from "./flags/help-text.ts";
import { nearest } from "./flags/nearest.ts";
import { type GivenFlag, type ReadArguments, readArguments, toYargs } from "./flags/pflag.ts";
import { UsageError } from "./terminal/errors.ts";

export type ParsedCommandLine =
	| { readonly kind: "help"; readonly text: string }
	| { readonly kind: "command"; readonly command: Command; readonly input: CommandInput };

const helpFlags: FlagTable = { help: { kind: "boolean", short: "h", describe: "Show help" } };

/** Throws UsageError for what kubectl would not take either. */
export async function parseCommandLine(argv: readonly string[]): Promise<ParsedCommandLine> {
	const line = readLine(argv);
	const text = helpAskedFor(line, argv);
	if (text !== undefined) return { kind: "help", text };
	const { name = "", flags, words } = line;
	const command = findCommand(name);
	if (!command) throw unknownCommand(name);
	const table = tableOf(command);
	const given = parseFlags(flags, table);
	const values = withUsageHint(command, () => readValues(given, table));
	refuseExtraWords(command, words);
	const names = new Set(flags.map((flag) => flag.name));
	const input = { words, flags: values, given: names, globals: readGlobalFlags(values), argv: [...argv] };
	return { kind: "command", command, input };
}

function helpAskedFor({ name, flags }: Line, argv: readonly string[]): string | undefined {
	if (name === "options") return optionsText();
	const command = findCommand(name);
	const isAsked = flags.some((flag) => flag.name === "help" && flag.value === "true");
	if (command) return isAsked ? commandText(command) : undefined;
	if (name !== undefined && name !== "help") return undefined;
	const topic = argv.map(findCommand).find((each) => each !== undefined);
	return topic ? commandText(topic) : overviewText(commands);
}

interface Line extends ReadArguments {
	/** The first word that is neither a flag nor the value of one; the other words are those after it. */
	readonly name: string | undefined;
}

/** Flags may stand before the command, and what a flag is depends on the command. */
function readLine(argv: readonly string[]): Line {
	const { name, flags, words } = readWithAnyFlags(argv);
	const command = findCommand(name);
	if (!command) return { name, flags, words };
	const rest = [...argv];
	for (const word of command.name.split(" ")) rest.splice(rest.indexOf(word), 1);
	return { name, ...withUsageHint(command, () => readArguments(rest, tableOf(command))) };
}

function readWithAnyFlags(argv: readonly string[]): Line {
	const all: FlagTable = Object.assign({}, globalFlags, helpFlags, ...commands.map(({ flags }) => flags));
	try {
		const { flags, words } = readArguments(argv, all);
		const [first, second] = words;
		// "leases release" is a command of its own.
		const both = findCommand(`${first} ${second}`);
		return both ? { name: both.name, flags, words: words.slice(2) } : { name: first, flags, words: words.slice(1) };
	} catch (error) {
		// A wrong flag is told with the command that it was meant for, if there is one.
		const name = argv.find(findCommand);
		if (!(error instanceof UsageError) || name === undefined) throw error;
		return { name, flags: [], words: [] };
	}
}

function findCommand(word: string | undefined): Command | undefined {
	return commands.find(({ name }) => name === word);
}

function tableOf({ flags }: Command): FlagTable {
	return { ...globalFlags, ...flags, ...helpFlags };
}

function unknownCommand(name: string): UsageError {
	const near = nearest(
		name,
		commands.map((each) => each.name),
	);
	return new UsageError(
		`unknown command "${name}" for "${programName}"`,
		`${near === undefined ? "" : `Did you mean ${near}?\n`}Run '${programName} --help' for usage.`,
	);
}

function withUsageHint<T>(command: Command, read: () => T): T {
	try {
		return read();
	} catch (error) {
		if (!(error instanceof UsageError)) throw error;
		const see = `See '${programName} ${command.name} --help' for usage.`;
		throw new UsageError(error.message, error.hint === undefined ? see : `${error.hint}\n${see}`);
	}
}

/** In kubectl's words. */
function refuseExtraWords(command: Command, words: readonly string[]): void {
	if (command.words !== "" || words.length === 0) return;
	const see = `See '${programName} ${command.name} --help' for usage.`;
	throw new UsageError(`extra arguments: [${words.join(" ")}]`, see);
}

/** yargs sees every value as text: what it means is read by readFlagValue, in pflag's words. */
function parseFlags(flags: readonly GivenFlag[], table: FlagTable): Readonly<Record<string, unknown>> {
	const names = Object.keys(table);
	const lists = names.filter((name) => table[name]?.kind === "list");
	// Its parser alone: with its own tree of commands a first parse takes 20 ms of CPU.
	return Parser(flags.map(toYargs), {
		string: names,
		array: lists,
		default: Object.fromEntries(
			Object.entries(table).map(([name, flag]) => [name, flag.kind === "list" ? [] : flag.default]),
		),
		configuration: {
			"boolean-negation": false,
			"camel-case-expansion": false,
			"dot-notation": false,
			"duplicate-arguments-array": true,
			"greedy-arrays": false,
			"parse-numbers": false,
			"parse-positional-numbers": false,
		},
	});
}

function readValues(given: Readonly<Record<string, unknown>>, table: FlagTable): Readonly<Record<string, unknown>> {
	const values: Record<string, unknown> = {};
	for (const [name, flag] of Object.entries(table)) {
		const texts: readonly unknown[] = [given[name]].flat();
		// The last one wins, as in pflag: yargs has one setting for these and for lists.
		const last = texts.at(-1);
		if (flag.kind === "list") values[name] = flag.commas ? texts.flatMap((text) => String(text).split(",")) : texts;
		else values[name] = typeof last === "string" ? readFlagValue(name, flag, last) : last;
	}
	return values;
}
