import { describe, expect, test } from "vitest";
import yargs from "yargs";
import type { FlagTable } from "../../../plugin/flags/flag.ts";
import { commandWords, joinValues, readArguments } from "../../../plugin/flags/pflag.ts";

const table: FlagTable = {
	selector: { kind: "text", short: "l", describe: "" },
	force: { kind: "boolean", describe: "" },
	yes: { kind: "boolean", short: "y", describe: "" },
	timeout: { kind: "duration", describe: "" },
	"grace-period": { kind: "number", describe: "" },
	"dry-run": { kind: "text", bare: "unchanged", describe: "" },
};

describe("readArguments()", () => {
	const rows: readonly {
		readonly name: string;
		readonly argv: readonly string[];
		readonly flags: readonly string[];
		readonly words: readonly string[];
	}[] = [
		{ name: "a value after a space", argv: ["--selector", "a=b", "n1"], flags: ["--selector=a=b"], words: ["n1"] },
		{ name: "a value after =", argv: ["--selector=a=b"], flags: ["--selector=a=b"], words: [] },
		{ name: "a boolean takes no word", argv: ["--force", "n1"], flags: ["--force=true"], words: ["n1"] },
		{ name: "a boolean switched off", argv: ["--force=false"], flags: ["--force=false"], words: [] },
		{
			name: "a flag with a value of its own takes no word",
			argv: ["--dry-run", "n1"],
			flags: ["--dry-run=unchanged"],
			words: ["n1"],
		},
		{ name: "a short flag with its value", argv: ["-l", "a=b"], flags: ["--selector=a=b"], words: [] },
		{ name: "a short flag joined with its value", argv: ["-la=b"], flags: ["--selector=a=b"], words: [] },
		{ name: "short flags in one word", argv: ["-yl", "a"], flags: ["--yes=true", "--selector=a"], words: [] },
		{ name: "words after --", argv: ["--force", "--", "--timeout"], flags: ["--force=true"], words: ["--timeout"] },
		{ name: "a lone dash is a word", argv: ["-"], flags: [], words: ["-"] },
		{ name: "a negative number is a value", argv: ["--grace-period", "-1"], flags: ["--grace-period=-1"], words: [] },
	];
	for (const { name, argv, flags, words } of rows) {
		test(name, () => {
			const read = readArguments(argv, table);
			expect({ flags: read.flags.map(({ name: flag, value }) => `--${flag}=${value}`), words: read.words }).toEqual({
				flags,
				words,
			});
		});
	}

	const wrong: readonly { readonly argv: readonly string[]; readonly message: string; readonly hint?: string }[] = [
		{ argv: ["--forc"], message: "unknown flag: --forc", hint: "Did you mean --force?" },
		{ argv: ["--bogus-flag"], message: "unknown flag: --bogus-flag" },
		{ argv: ["--tiemout=3s"], message: "unknown flag: --tiemout", hint: "Did you mean --timeout?" },
		{ argv: ["--no-force"], message: "unknown flag: --no-force" },
		{ argv: ["-z"], message: "unknown shorthand flag: 'z' in -z" },
		{ argv: ["-yz"], message: "unknown shorthand flag: 'z' in -z" },
		{ argv: ["--timeout"], message: "flag needs an argument: --timeout" },
		{ argv: ["-l"], message: "flag needs an argument: 'l' in -l" },
		{ argv: ["--constructor"], message: "unknown flag: --constructor" },
	];
	for (const { argv, message, hint } of wrong) {
		test(`${argv.join(" ")} is refused as kubectl refuses it`, () => {
			expect(() => readArguments(argv, table)).toThrow(expect.objectContaining({ name: "UsageError", message, hint }));
		});
	}
});

function outcomeOf(argv: readonly string[]): unknown {
	try {
		const { flags, words } = readArguments(argv, table);
		return { flags: flags.map(({ name, value }) => `--${name}=${value}`), words };
	} catch (error) {
		return error instanceof Error ? error.message : error;
	}
}

describe("readArguments() and yargs", () => {
	/** Reads with yargs alone, with the settings and types closest to pflag. */
	function readByYargs(argv: readonly string[]): Readonly<Record<string, unknown>> {
		const types = Object.entries(table).map(([name, { kind, short }]) => [
			name,
			{ type: kind === "boolean" ? "boolean" : "string", ...(short !== undefined && { alias: short }) },
		]);
		const { $0: _script, ...rest } = yargs()
			.help(false)
			.version(false)
			.detectLocale(false)
			.exitProcess(false)
			.parserConfiguration({
				"boolean-negation": false,
				"camel-case-expansion": false,
				"dot-notation": false,
				"parse-numbers": false,
				"strip-aliased": true,
			})
			.options(Object.fromEntries(types))
			.parseSync(argv);
		return rest;
	}

	const rows: readonly {
		readonly argv: readonly string[];
		readonly ours: { readonly flags: readonly string[]; readonly words: readonly string[] } | string;
		readonly theirs: Readonly<Record<string, unknown>>;
	}[] = [
		{
			argv: ["--selector", "--a"],
			ours: { flags: ["--selector=--a"], words: [] },
			theirs: { _: [], selector: "", a: true },
		},
		{
			argv: ["--timeout", "-1s"],
			ours: { flags: ["--timeout=-1s"], words: [] },
			theirs: { _: [], timeout: "", 1: true, s: true },
		},
		{
			argv: ["--dry-run", "n1"],
			ours: { flags: ["--dry-run=unchanged"], words: ["n1"] },
			theirs: { _: [], "dry-run": "n1" },
		},
		{
			argv: ["--force", "false"],
			ours: { flags: ["--force=true"], words: ["false"] },
			theirs: { _: [], force: false },
		},
		{ argv: ["-la=b"], ours: { flags: ["--selector=a=b"], words: [] }, theirs: { _: [], selector: "", a: "b" } },
		{ argv: ["-ly"], ours: { flags: ["--selector=y"], words: [] }, theirs: { _: [], selector: "", yes: true } },
		{ argv: ["-l", "-y"], ours: { flags: ["--selector=-y"], words: [] }, theirs: { _: [], selector: "", yes: true } },
		{ argv: ["--selector"], ours: "flag needs an argument: --selector", theirs: { _: [], selector: "" } },
		{ argv: ["--bogus", "n1"], ours: "unknown flag: --bogus", theirs: { _: [], bogus: "n1" } },
		{
			argv: ['--selector="a"'],
			ours: { flags: ['--selector="a"'], words: [] },
			theirs: { _: [], selector: "a" },
		},
	];
	for (const { argv, ours, theirs } of rows) {
		test(`differ at ${argv.join(" ")}`, () => {
			expect(readByYargs(argv)).toEqual(theirs);
			expect(outcomeOf(argv)).toEqual(ours);
		});
	}

	test("differ at -l a -l b", () => {
		const argv = ["-l", "a", "-l", "b"];
		expect(readByYargs(argv)).toEqual({ _: [], selector: ["a", "b"] });
		expect(joinValues(readArguments(argv, table).flags, table)).toEqual({ selector: "b" });
	});
});

describe("joinValues()", () => {
	const lists: FlagTable = {
		contexts: { kind: "list", commas: true, describe: "" },
		"as-group": { kind: "list", describe: "" },
	};

	test("leaves out spaces around the commas of a list", () => {
		const { flags } = readArguments(["--contexts", "a, b ,c", "--as-group=x, y"], lists);
		expect(joinValues(flags, lists)).toEqual({ contexts: ["a", "b", "c"], "as-group": ["x, y"] });
	});

	test("keeps all values of a list, and takes one apart at its commas where pflag does", () => {
		const { flags } = readArguments(["--contexts=a,b", "--as-group=x,y", "--contexts", "c", "--as-group=z"], lists);
		expect(joinValues(flags, lists)).toEqual({ contexts: ["a", "b", "c"], "as-group": ["x,y", "z"] });
	});
});

describe("commandWords()", () => {
	const rows: readonly {
		readonly name: string;
		readonly argv: readonly string[];
		readonly words: readonly string[];
	}[] = [
		{ name: "leaves values out", argv: ["-l", "a", "drain", "--force", "n1"], words: ["drain", "n1"] },
		{ name: "passes over what is no flag", argv: ["--bogus", "drain", "-z", "n1"], words: ["drain", "n1"] },
		{ name: "passes over a flag without its argument", argv: ["drain", "--timeout"], words: ["drain"] },
		{ name: "ends at --", argv: ["drain", "--", "n1"], words: ["drain"] },
		{ name: "takes -- for a value where one is due", argv: ["-l", "--", "drain"], words: ["drain"] },
	];
	for (const { name, argv, words } of rows) {
		test(name, () => expect(commandWords(argv, table)).toEqual(words));
	}
});
