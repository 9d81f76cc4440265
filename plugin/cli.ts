// The command line: pflag's reading of flags, yargs' commands and help.
import yargs, { type Argv, type Options } from "yargs";
import { commands } from "./command-table.ts";
import type { Command, CommandInput } from "./flags/command.ts";
import { formatDuration } from "./flags/duration.ts";
import { type Flag, type FlagTable, nearest, normaliseArguments, readFlagValue } from "./flags/flags.ts";
import { globalFlags, readGlobalFlags } from "./flags/global-flags.ts";
import { UsageError } from "./terminal/errors.ts";

export type ParsedCommandLine =
	| { readonly kind: "help"; readonly text: string }
	| { readonly kind: "command"; readonly command: Command; readonly input: CommandInput };

const programName = "kubectl xpdb";
const helpFlags: FlagTable = { help: { kind: "boolean", short: "h", describe: "Show help" } };

/** Throws UsageError for what kubectl would not take either. */
export async function parseCommandLine(argv: readonly string[]): Promise<ParsedCommandLine> {
	const name = findCommandName(argv);
	if (name === undefined || name === "help")
		return { kind: "help", text: helpText(argv.find((word) => isCommand(word))) };
	if (name === "options") return { kind: "help", text: optionsText() };
	const command = commands.find((each) => each.name === name);
	if (!command) {
		const near = nearest(
			name,
			commands.map((each) => each.name),
		);
		throw new UsageError(
			`unknown command "${name}" for "${programName}"`,
			`${near === undefined ? "" : `Did you mean ${near}?\n`}Run '${programName} --help' for usage.`,
		);
	}
	const table: FlagTable = { ...globalFlags, ...command.flags, ...helpFlags };
	const { flags, words } = withUsageHint(command, () => normaliseArguments(withoutName(argv, name), table));
	if (flags.includes("--help=true")) return { kind: "help", text: helpText(name) };
	const parsed = await createParser(command, table).parseAsync([name, ...flags, "--", ...words]);
	const values = withUsageHint(command, () => readValues(parsed, table));
	return {
		kind: "command",
		command,
		input: { words, flags: values, given: namesOf(flags), globals: readGlobalFlags(values), argv: [...argv] },
	};
}

/** The first word that is neither a flag nor the value of one. */
function findCommandName(argv: readonly string[]): string | undefined {
	const all: FlagTable = Object.assign({}, globalFlags, helpFlags, ...commands.map(({ flags }) => flags));
	try {
		return normaliseArguments(argv, all).words[0];
	} catch (error) {
		// A wrong flag is told with the command that it was meant for, if there is one.
		if (!(error instanceof UsageError)) throw error;
		const name = argv.find(isCommand);
		if (name === undefined) throw error;
		return name;
	}
}

function isCommand(word: string): boolean {
	return commands.some(({ name }) => name === word);
}

function withoutName(argv: readonly string[], name: string): readonly string[] {
	const at = argv.indexOf(name);
	return argv.filter((_, index) => index !== at);
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

/** Of flags as `--name=value`. */
function namesOf(flags: readonly string[]): ReadonlySet<string> {
	return new Set(flags.map((flag) => flag.slice(2, flag.indexOf("="))));
}

function readValues(parsed: Readonly<Record<string, unknown>>, table: FlagTable): Readonly<Record<string, unknown>> {
	const values: Record<string, unknown> = {};
	for (const [name, flag] of Object.entries(table)) {
		const given = parsed[name];
		const texts = (Array.isArray(given) ? given : [given]).filter((value) => typeof value === "string");
		if (flag.kind === "list") {
			values[name] = name === "contexts" ? texts.flatMap((text) => text.split(",")) : texts;
			continue;
		}
		// The last one wins, as in pflag.
		const text = texts.at(-1);
		values[name] = text === undefined ? flag.default : readFlagValue(name, flag, text);
	}
	return values;
}

/** yargs sees every flag as text: what it means is read by readFlagValue, in pflag's words. */
function createParser({ name }: Command, table: FlagTable): Argv {
	return yargs()
		.scriptName(programName)
		.help(false)
		.version(false)
		.detectLocale(false)
		.exitProcess(false)
		.showHelpOnFail(false)
		.parserConfiguration({
			"boolean-negation": false,
			"camel-case-expansion": false,
			"dot-notation": false,
			"duplicate-arguments-array": true,
			"greedy-arrays": false,
			"parse-numbers": false,
			"parse-positional-numbers": false,
			"populate--": false,
		})
		.command(name, false, (builder) => builder.options(textOptions(table)))
		.strictOptions()
		.fail((message, error: unknown) => {
			throw error instanceof Error ? error : new UsageError(message);
		});
}

function textOptions(table: FlagTable): Record<string, Options> {
	return Object.fromEntries(Object.keys(table).map((name) => [name, { string: true }]));
}

/** Examples first: they are what people read. */
function helpText(name: string | undefined): string {
	const command = commands.find((each) => each.name === name);
	if (!command) {
		const width = Math.max(...commands.map((each) => each.name.length));
		return [
			"Evict pods and drain nodes under one disruption budget over many clusters.",
			"",
			"Examples:",
			...commands.flatMap(({ examples }) => exampleLines(examples.slice(0, 1))),
			"Commands:",
			...commands.map((each) => `  ${each.name.padEnd(width)}   ${each.describe}`),
			"",
			"Usage:",
			`  ${programName} COMMAND [flags]`,
			"",
			`Use "${programName} COMMAND --help" for the flags of a command,`,
			`"${programName} options" for those of all commands.`,
		].join("\n");
	}
	const shared = Object.entries(globalFlags).filter(([flag]) => ["contexts", "context", "namespace"].includes(flag));
	return [
		`${command.describe}.`,
		"",
		"Examples:",
		...exampleLines(command.examples),
		"Flags:",
		...flagLines([...Object.entries(command.flags), ...shared]),
		"",
		"Usage:",
		`  ${programName} ${command.name} ${command.words} [flags]`.replace("  [", " ["),
		"",
		`Use "${programName} options" for the flags of all commands.`,
	].join("\n");
}

function exampleLines(examples: Command["examples"]): readonly string[] {
	return examples.flatMap(([comment, line]) => [`  # ${comment}`, `  ${line}`, ""]);
}

function optionsText(): string {
	return `Flags of every command:\n\n${flagLines(Object.entries(globalFlags)).join("\n")}`;
}

function flagLines(rows: readonly (readonly [string, Flag])[]): readonly string[] {
	return rows.flatMap(([name, flag]) => {
		const value = flag.kind === "boolean" ? "" : `=${flag.value ?? flag.kind.toUpperCase()}`;
		const short = flag.short === undefined ? "    " : `-${flag.short}, `;
		const label = name === flag.short ? `-${name}` : `${short}--${name}`;
		return [`  ${label}${value}`, ...wrap(flag.describe, defaultText(flag)).map((line) => `        ${line}`)];
	});
}

/** With their indentation, lines fit a terminal of 80 columns. */
const describeWidth = 72;

/** `last` stays on one line. */
function wrap(text: string, last: string): readonly string[] {
	const lines: string[] = [];
	for (const word of [...text.split(" "), ...(last === "" ? [] : [last])]) {
		const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
		if (lines.length === 0 || longer.length > describeWidth) lines.push(word);
		else lines[lines.length - 1] = longer;
	}
	return lines;
}

function defaultText(flag: Flag): string {
	if (flag.default === undefined || flag.default === "" || flag.default === false) return "";
	const text =
		flag.kind === "duration" && typeof flag.default === "number" ? formatDuration(flag.default) : String(flag.default);
	return `(default ${text})`;
}
