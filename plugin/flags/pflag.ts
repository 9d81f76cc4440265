// Arguments as pflag reads them, so that a line which works with kubectl works here, and a wrong one fails in the same words. yargs gets
// what comes out of here. It reads by itself, whatever its settings:
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
//
// The test of this file holds each row, on both sides.
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

/** As yargs takes them: it takes quotes off a value, so that each gets a pair. */
export function toYargs({ name, value }: GivenFlag): string {
	return `--${name}="${value}"`;
}

/** Throws UsageError for an unknown flag, with the nearest known one, and for a flag without its argument. */
export function readArguments(argv: readonly string[], table: FlagTable): ReadArguments {
	const flags: GivenFlag[] = [];
	const words: string[] = [];
	const byShort = new Map(Object.entries(table).flatMap(([name, flag]) => (flag.short ? [[flag.short, name]] : [])));
	const rest = [...argv];
	for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
		if (arg === "--") {
			words.push(...rest.splice(0));
		} else if (arg.startsWith("--")) {
			const [name = "", ...value] = arg.slice(2).split("=");
			const flag = Object.hasOwn(table, name) ? table[name] : undefined;
			if (!flag) throw new UsageError(`unknown flag: --${name}`, suggestion(name, table));
			if (value.length > 0) flags.push({ name, value: value.join("=") });
			else flags.push({ name, value: bareValue(flag) ?? nextValue(rest, `--${name}`) });
		} else if (arg.startsWith("-") && arg !== "-") {
			expandShorts(arg);
		} else {
			words.push(arg);
		}
	}
	return { flags, words };

	function expandShorts(arg: string): void {
		for (let letters = arg.slice(1); letters !== ""; letters = letters.slice(1)) {
			const letter = letters.charAt(0);
			const name = byShort.get(letter);
			const flag = name === undefined ? undefined : table[name];
			if (name === undefined || !flag) throw new UsageError(`unknown shorthand flag: '${letter}' in -${letters}`);
			const following = letters.slice(1);
			if (following.startsWith("=")) {
				flags.push({ name, value: following.slice(1) });
				return;
			}
			const bare = bareValue(flag);
			if (bare !== undefined) {
				flags.push({ name, value: bare });
				continue;
			}
			const value = following === "" ? rest.shift() : following;
			if (value === undefined) throw new UsageError(`flag needs an argument: '${letter}' in -${letters}`);
			flags.push({ name, value });
			return;
		}
	}
}

function bareValue(flag: Flag): string | undefined {
	return flag.bare ?? (flag.kind === "boolean" ? "true" : undefined);
}

function nextValue(rest: string[], label: string): string {
	const value = rest.shift();
	if (value === undefined) throw new UsageError(`flag needs an argument: ${label}`);
	return value;
}

function suggestion(name: string, table: FlagTable): string | undefined {
	const near = nearest(name, Object.keys(table));
	return near === undefined ? undefined : `Did you mean --${near}?`;
}
