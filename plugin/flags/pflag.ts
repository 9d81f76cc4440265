// Parses arguments as pflag does, so that a line that works with kubectl works here, and a wrong one fails with the same message. yargs
// gets only the resulting words, from which it finds the command, and the values of the flags. Whatever its settings, yargs itself would
// read some arguments differently:
//
// | argument          | pflag, and so we                          | yargs                             |
// | ----------------- | ----------------------------------------- | --------------------------------- |
// | --selector --a    | the value is "--a": a value is due        | no value, and a flag "a"          |
// | --timeout -1s     | the value is "-1s"                        | no value, and flags "1" and "s"   |
// | --dry-run n1      | no value is due: "n1" is a word           | the value is "n1"                 |
// | --force false     | a boolean takes no word: "false" is one   | the value is false                |
// | -la=b             | the value of -l is "a=b"                  | no value, and a flag "a"          |
// | -ly               | the value of -l is "y"                    | no value, and a flag "y"          |
// | -l -y             | the value of -l is "-y"                   | no value, and a flag "y"          |
// | --selector        | an error: it needs an argument            | the value is ""                   |
// | --bogus n1        | an error, before anything is its value    | a flag "bogus" with value "n1"    |
// | --selector='"a"'  | the value has its quotes                  | the value has none                |
// | -l a -l b         | the value is "b": the last one wins       | the value is both, as a list      |
//
// The test of this file checks each row against both parsers.
import { UsageError } from "../terminal/errors.ts";
import type { Flag, FlagTable } from "./flag.ts";
import { nearest } from "./nearest.ts";

export interface ReadArguments {
	readonly flags: readonly GivenFlag[];
	readonly words: readonly string[];
}

export interface GivenFlag {
	readonly name: string;
	readonly value: string;
}

/** Throws UsageError for an unknown flag, with the nearest known one, and for a flag without its argument. */
export function readArguments(argv: readonly string[], table: FlagTable): ReadArguments {
	return read(argv, table, (message, hint) => {
		throw new UsageError(message, hint);
	});
}

/** The words before "--" that contain the command. Errors in flags are reported later, when the command and its flags are known. */
export function commandWords(argv: readonly string[], table: FlagTable): readonly string[] {
	const { words, beforeDashes } = read(argv, table, () => undefined);
	return words.slice(0, beforeDashes);
}

/** Returns one value for each flag: the last one that was given. A list keeps all values. */
export function joinValues(flags: readonly GivenFlag[], table: FlagTable): Readonly<Record<string, string | string[]>> {
	const values: Record<string, string | string[]> = {};
	for (const { name, value } of flags) {
		const { kind, commas } = table[name] ?? {};
		if (kind === "list")
			values[name] = [values[name] ?? [], commas ? value.split(",").map((item) => item.trim()) : value].flat();
		else values[name] = value;
	}
	return values;
}

function read(
	argv: readonly string[],
	table: FlagTable,
	refuse: (message: string, hint?: string) => void,
): ReadArguments & { readonly beforeDashes: number } {
	const flags: GivenFlag[] = [];
	const words: string[] = [];
	const byShort = new Map(Object.entries(table).flatMap(([name, flag]) => (flag.short ? [[flag.short, name]] : [])));
	const rest = [...argv];
	let beforeDashes: number | undefined;
	for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
		if (arg === "--") {
			beforeDashes = words.length;
			words.push(...rest.splice(0));
		} else if (arg.startsWith("--")) {
			const [name = "", ...value] = arg.slice(2).split("=");
			const flag = Object.hasOwn(table, name) ? table[name] : undefined;
			if (!flag) refuse(`unknown flag: --${name}`, suggestion(name, table));
			else give(name, value.length > 0 ? value.join("=") : (bareValue(flag) ?? rest.shift()), `--${name}`);
		} else if (arg.startsWith("-") && arg !== "-") {
			expandShorts(arg);
		} else {
			words.push(arg);
		}
	}
	return { flags, words, beforeDashes: beforeDashes ?? words.length };

	function give(name: string, value: string | undefined, label: string): void {
		if (value === undefined) refuse(`flag needs an argument: ${label}`);
		else flags.push({ name, value });
	}

	function expandShorts(arg: string): void {
		for (let letters = arg.slice(1); letters !== ""; letters = letters.slice(1)) {
			const letter = letters.charAt(0);
			const name = byShort.get(letter);
			const flag = name === undefined ? undefined : table[name];
			if (name === undefined || !flag) return refuse(`unknown shorthand flag: '${letter}' in -${letters}`);
			const following = letters.slice(1);
			if (following.startsWith("=")) return give(name, following.slice(1), arg);
			const bare = bareValue(flag);
			if (bare === undefined) return give(name, following || rest.shift(), `'${letter}' in -${letters}`);
			give(name, bare, arg);
		}
	}
}

function bareValue(flag: Flag): string | undefined {
	return flag.bare ?? (flag.kind === "boolean" ? "true" : undefined);
}

function suggestion(name: string, table: FlagTable): string | undefined {
	const near = nearest(name, Object.keys(table));
	return near === undefined ? undefined : `Did you mean --${near}?`;
}
