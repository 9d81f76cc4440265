// The command line: pflag's reading of flags, yargs' commands and help.
import yargs, { type Argv } from "yargs";
import type { Command, CommandInput } from "./command.ts";
import { commands } from "./command-table.ts";
import { formatDuration } from "./duration.ts";
import { UsageError } from "./errors.ts";
import { type Flag, type FlagTable, nearest, normaliseArguments, readFlagValue } from "./flags.ts";
import { globalFlags, readGlobalFlags } from "./global-flags.ts";

export type ParsedCommandLine =
	| { readonly kind: "help"; readonly text: string }
	| { readonly kind: "command"; readonly command: Command; readonly input: CommandInput };

const programName = "kubectl xpdb";
const helpFlags: FlagTable = { help: { kind: "boolean", short: "h", describe: "Show help" } };

/** Throws UsageError for what kubectl would not take either. */
export async function parseCommandLine(argv: readonly string[]): Promise<ParsedCommandLine> {
	const name = findCommandName(argv);
	if (name === undefined || name === "help")
		return { kind: "help", text: await helpText(argv.find((word) => isCommand(word))) };
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
	if (flags.includes("--help=true")) return { kind: "help", text: await helpText(name) };
	const parsed = await createParser(command).parseAsync([name, ...flags, "--", ...words]);
	const values = withUsageHint(command, () => readValues(parsed, table));
	return {
		kind: "command",
		command,
		input: { words, flags: values, globals: readGlobalFlags(values), argv: [...argv] },
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
function createParser(command: Command): Argv {
	return base(command)
		.strict()
		.exitProcess(false)
		.showHelpOnFail(false)
		.fail((message, error: unknown) => {
			throw error instanceof Error ? error : new UsageError(message);
		});
}

function base(command?: Command): Argv {
	const parser = yargs()
		.scriptName(programName)
		.help(false)
		.version(false)
		.detectLocale(false)
		.wrap(100)
		.parserConfiguration({
			"boolean-negation": false,
			"camel-case-expansion": false,
			"dot-notation": false,
			"duplicate-arguments-array": true,
			"greedy-arrays": false,
			"parse-numbers": false,
			"parse-positional-numbers": false,
			"populate--": false,
		});
	if (!command) {
		for (const { name, describe } of commands) parser.command(name, describe);
		parser.command("options", "List the flags that every command takes");
		return parser;
	}
	const table: FlagTable = { ...command.flags, ...globalFlags };
	return parser.command(command.name, false, (builder) => {
		for (const [name, flag] of Object.entries(table)) {
			builder.option(name, {
				...(flag.short !== undefined && flag.short !== name && { alias: flag.short }),
				string: true,
				describe: `${flag.describe}${defaultText(flag)}`,
				hidden: Object.hasOwn(globalFlags, name) && !["contexts", "context", "namespace"].includes(name),
			});
		}
		return builder;
	});
}

async function helpText(name: string | undefined): Promise<string> {
	const command = commands.find((each) => each.name === name);
	if (!command) {
		const head = [
			"One disruption budget over many clusters: evict pods and drain nodes without breaking it.",
			"",
			"Examples:",
			...commands.flatMap(({ examples: [first] }) => (first ? exampleLines([first]) : [])),
			`Usage:\n  ${programName} COMMAND [flags]`,
		];
		return `${await base().usage(head.join("\n")).getHelp()}\n\nUse "${programName} COMMAND --help" for the flags of a command, "${programName} options" for the flags of all.`;
	}
	const head = [
		`${command.describe}.`,
		"",
		"Examples:",
		...exampleLines(command.examples),
		`Usage:\n  ${programName} ${command.name} ${command.words} [flags]`,
	];
	const flags = yargsHelp(command);
	return `${head.join("\n")}\n\n${flags}\n\nUse "${programName} options" for the flags of all commands.`;
}

function yargsHelp(command: Command): string {
	const shown = ["contexts", "context", "namespace"];
	const rows = Object.entries({ ...command.flags, ...globalFlags }).filter(
		([name]) => Object.hasOwn(command.flags, name) || shown.includes(name),
	);
	return `Flags:\n${flagLines(rows).join("\n")}`;
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
		return [`  ${label}${value}`, `        ${flag.describe}${defaultText(flag)}`];
	});
}

function defaultText(flag: Flag): string {
	if (flag.default === undefined || flag.default === "" || flag.default === false) return "";
	const text =
		flag.kind === "duration" && typeof flag.default === "number" ? formatDuration(flag.default) : String(flag.default);
	return ` (default ${text})`;
}
