// Flags as pflag reads them, so that a line which works with kubectl works here, and a wrong one fails in the same words.
// yargs takes what comes out of here: every flag as --name=value, words after them.
import { KubeconfigError, UsageError } from "../terminal/errors.ts";
import { durationProblem, parseDuration } from "./duration.ts";

/** `timeout` is a duration where a bare number means seconds, as kubectl's --request-timeout has it. */
export type FlagKind = "text" | "list" | "boolean" | "number" | "duration" | "timeout";

export interface Flag {
	readonly kind: FlagKind;
	readonly describe: string;
	readonly short?: string;
	/** The value of the flag where it stands alone (pflag's NoOptDefVal); booleans have "true". */
	readonly bare?: string;
	readonly default?: string | number | boolean;
	/** Shown in the help in place of the kind. */
	readonly value?: string;
}

export type FlagTable = Readonly<Record<string, Flag>>;

export interface NormalisedArguments {
	/** Flags as `--name=value`. */
	readonly flags: readonly string[];
	readonly words: readonly string[];
}

/** Throws UsageError for an unknown flag, with the nearest known one, and for a flag without its argument. */
export function normaliseArguments(argv: readonly string[], table: FlagTable): NormalisedArguments {
	const flags: string[] = [];
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
			if (value.length > 0) flags.push(`--${name}=${value.join("=")}`);
			else flags.push(`--${name}=${bareValue(flag) ?? nextValue(rest, `--${name}`)}`);
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
				flags.push(`--${name}=${following.slice(1)}`);
				return;
			}
			const bare = bareValue(flag);
			if (bare !== undefined) {
				flags.push(`--${name}=${bare}`);
				continue;
			}
			if (following !== "") flags.push(`--${name}=${following}`);
			else if (rest.length === 0) throw new UsageError(`flag needs an argument: '${letter}' in -${letters}`);
			else flags.push(`--${name}=${rest.shift()}`);
			return;
		}
	}
}

/** The value of a flag, or UsageError in pflag's words. */
export function readFlagValue(name: string, flag: Flag, value: string): string | number | boolean {
	const label = flag.short ? `-${flag.short}, --${name}` : `--${name}`;
	const invalid = (why: string): UsageError =>
		new UsageError(`invalid argument "${value}" for "${label}" flag: ${why}`);
	switch (flag.kind) {
		case "text":
		case "list":
			return value;
		case "boolean":
			if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
			if (/^(0|f|F|FALSE|false|False)$/.test(value)) return false;
			throw invalid(`strconv.ParseBool: parsing "${value}": invalid syntax`);
		case "number": {
			const number = parseInteger(value);
			if (typeof number === "number") return number;
			throw invalid(`strconv.ParseInt: parsing "${value}": ${number}`);
		}
		case "duration": {
			const ms = parseDuration(value);
			if (ms === undefined) throw invalid(durationProblem(value));
			return ms;
		}
		case "timeout": {
			const ms = parseDuration(/^\d+$/.test(value) ? `${value}s` : value);
			if (ms === undefined || ms < 0) {
				throw new KubeconfigError(
					"error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)",
				);
			}
			return ms;
		}
	}
}

/** The nearest of `known` within two typing errors, for "did you mean". */
export function nearest(word: string, known: readonly string[]): string | undefined {
	const ranked = known
		.map((name) => ({ name, distance: name.startsWith(word) && word.length > 2 ? 0 : editDistance(word, name) }))
		.filter(({ distance }) => distance <= 2)
		.toSorted((a, b) => a.distance - b.distance);
	return ranked[0]?.name;
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

/** As strconv.ParseInt with base 0 and 64 bits: "30", "-1", "0x1e", "1_000". */
function parseInteger(text: string): number | "invalid syntax" | "value out of range" {
	const [, sign = "", digits = ""] =
		/^([-+]?)(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][\d_]*)$/.exec(text) ?? [];
	if (digits === "" || /__|_$|^0[oO]$/.test(digits)) return "invalid syntax";
	const plain = digits.replaceAll("_", "");
	const value = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain) * (sign === "-" ? -1n : 1n);
	// Go's are of 64 bits; beyond 53 we would send another number than was meant.
	return Number.isSafeInteger(Number(value)) ? Number(value) : "value out of range";
}

function editDistance(a: string, b: string): number {
	// Far apart whatever they say.
	if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i += 1) {
		const next = [i];
		for (let j = 1; j <= b.length; j += 1) {
			const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row[b.length] ?? 0;
}
