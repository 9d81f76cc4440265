// Parses the command line. yargs keeps the tree of commands, finds the requested command or help, suggests similar commands, and knows the
// types and defaults of flags. Arguments and their values are read as in pflag (flags/pflag.ts, flags/flag-value.ts). The help looks like
// kubectl's (flags/help-text.ts).
import yargs, { type Argv } from "yargs";
import { commands } from "./command-table.ts";
import type { Command, CommandInput } from "./flags/command.ts";
import type { FlagKind, FlagTable } from "./flags/flag.ts";
import { readFlagValue } from "./flags/flag-value.ts";
import { globalFlags, readGlobalFlags } from "./flags/global-flags.ts";
import { commandText, optionsText, overviewText, programName } from "./flags/help-text.ts";
import { nearest } from "./flags/nearest.ts";
import { commandWords, type GivenFlag, joinValues, type ReadArguments, readArguments } from "./flags/pflag.ts";
import { UsageError } from "./terminal/errors.ts";

export type ParsedCommandLine =
	| { readonly kind: "help"; readonly text: string }
	| { readonly kind: "command"; readonly command: Command; readonly input: CommandInput };

type Done = (parsed: ParsedCommandLine) => void;

const helpFlags: FlagTable = { help: { kind: "boolean", short: "h", describe: "Show help" } };
const rootFlags: FlagTable = { ...globalFlags, ...helpFlags };

/** Returns the command or the help that the arguments request. Throws UsageError, or KubeconfigError for a wrong --request-timeout. */
export async function parseCommandLine(argv: readonly string[]): Promise<ParsedCommandLine> {
	// Flags may come before the command, so the words are found with the flags of all commands.
	const words = commandWords(argv, Object.assign({}, rootFlags, ...commands.map(({ flags }) => flags)));
	const parsed: ParsedCommandLine[] = [];
	const tree = createTree(words[0] ?? "");
	addCommands(tree, (level, command) => addRun(level, command, argv, (line) => parsed.push(line)));
	const help = (text: string) => (): void => {
		readArguments(argv, rootFlags);
		parsed.push({ kind: "help", text });
	};
	addLevel(tree, "options", (level) => addAction(level, help(optionsText())));
	addLevel(tree, "help", (topics) => {
		addCommands(topics, (level, command) => addAction(level, help(commandText(command, commands))));
		addAction(topics, help(overviewText(commands)));
	});
	tree.parseSync(words);
	if (words.length === 0) help(overviewText(commands))();
	const [found] = parsed;
	if (!found) throw new Error(`yargs has neither run nor refused "${words.join(" ")}"`);
	return found;
}

function createTree(word: string): Argv {
	return (
		yargs()
			.scriptName(programName)
			// yargs' own help command would treat a last word "help" as a request, but a pod may have that name.
			.help(false)
			.version(false)
			.detectLocale(false)
			.exitProcess(false)
			.strictOptions()
			// Only commands are accepted as words.
			.demandCommand(0, 0)
			.recommendCommands()
			.parserConfiguration({ "camel-case-expansion": false, "dot-notation": false })
			.fail((message, error: unknown) => {
				if (error instanceof Error) throw error;
				// yargs accepts up to three typing errors, so it would suggest "ops" for "get".
				const near = nearest(word, /^Did you mean (.+)\?$/.exec(message)?.slice(1) ?? []);
				const hint = `${near === undefined ? "" : `Did you mean ${near}?\n`}Run '${programName} --help' for usage.`;
				throw new UsageError(`unknown command "${word}" for "${programName}"`, hint);
			})
	);
}

/** Adds the commands of this level with their subcommands: "leases release" is a subcommand of "leases". */
function addCommands(level: Argv, add: (below: Argv, command: Command) => void, above = ""): void {
	for (const command of commands) {
		const word = command.name.slice(above.length);
		if (!command.name.startsWith(above) || word.includes(" ")) continue;
		addLevel(level, word, (below) => {
			addCommands(below, add, `${command.name} `);
			add(below, command);
		});
	}
}

function addLevel(level: Argv, word: string, build: (below: Argv) => void): void {
	level.command(word, false, build);
}

/**
 * Sets what a level does without a further command. It must be yargs' default command: otherwise yargs builds the help text after each
 * run.
 */
function addAction(level: Argv, act: (values: Values) => void, build: (level: Argv) => void = () => undefined): void {
	level.command("$0", false, build, act);
}

type Values = Readonly<Record<string, unknown>>;

function addRun(level: Argv, command: Command, argv: readonly string[], done: Done): void {
	const table = { ...globalFlags, ...command.flags, ...helpFlags };
	let line: ReadArguments = { flags: [], words: [] };
	addAction(
		level,
		(found) => {
			if (found["help"] === true) return done({ kind: "help", text: commandText(command, commands) });
			const words = line.words.slice(command.name.split(" ").length);
			refuseExtraWords(command, words);
			const flags = Object.fromEntries(Object.keys(table).map((name) => [name, found[name]]));
			const given = new Set(line.flags.map(({ name }) => name));
			done({
				kind: "command",
				command,
				input: { words, flags, given, globals: readGlobalFlags(flags), argv: [...argv] },
			});
		},
		(own) => {
			line = withUsageHint(command, () => readArguments(argv, table));
			declareFlags(own, table).config(withUsageHint(command, () => readValues(line.flags, table)));
		},
	);
}

/** Declares all flags of one type together, because yargs takes longer for single options, at every start. */
function declareFlags(level: Argv, table: FlagTable): Argv {
	const all = Object.entries(table);
	const named = (...kinds: readonly FlagKind[]): string[] =>
		all.filter(([, { kind }]) => kinds.includes(kind)).map(([name]) => name);
	const defaults = all.map(([name, flag]) => [name, flag.kind === "list" ? [] : flag.default] as const);
	return level
		.boolean(named("boolean"))
		.number(named("number", "duration", "timeout"))
		.string(named("text", "list"))
		.array(named("list"))
		.default(Object.fromEntries(defaults.filter(([, value]) => value !== undefined)));
}

/** Reads the flags' values. If the line asks for help, the values of its other flags are not read. */
function readValues(flags: readonly GivenFlag[], table: FlagTable): Values {
	const texts = Object.entries(joinValues(flags, table));
	const help = texts.filter(([name]) => name === "help").map(toValue);
	return Object.fromEntries(help.some(([, value]) => value === true) ? help : texts.map(toValue));

	function toValue([name, text]: readonly [string, string | string[]]): readonly [string, unknown] {
		const flag = table[name];
		return [name, flag && typeof text === "string" ? readFlagValue(name, flag, text) : text];
	}
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

/** Throws UsageError with kubectl's message. */
function refuseExtraWords(command: Command, words: readonly string[]): void {
	if (command.words !== "" || words.length === 0) return;
	const see = `See '${programName} ${command.name} --help' for usage.`;
	throw new UsageError(`extra arguments: [${words.join(" ")}]`, see);
}
