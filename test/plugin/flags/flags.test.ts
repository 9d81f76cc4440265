import { describe, expect, test } from "vitest";
import { type FlagTable, nearest, normaliseArguments, readFlagValue } from "../../../plugin/flags/flags.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";

const table: FlagTable = {
	selector: { kind: "text", short: "l", describe: "" },
	force: { kind: "boolean", describe: "" },
	yes: { kind: "boolean", short: "y", describe: "" },
	timeout: { kind: "duration", describe: "" },
	"grace-period": { kind: "number", describe: "" },
	"dry-run": { kind: "text", bare: "unchanged", describe: "" },
};

describe("normaliseArguments()", () => {
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
			expect(normaliseArguments(argv, table)).toEqual({ flags, words });
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
			const error = errorOf(() => normaliseArguments(argv, table));
			expect(error).toBeInstanceOf(UsageError);
			expect(error).toMatchObject({ message, hint });
		});
	}
});

describe("readFlagValue()", () => {
	const timeout = { kind: "duration", describe: "" } as const;
	const grace = { kind: "number", describe: "" } as const;
	const force = { kind: "boolean", describe: "" } as const;

	test("reads values as pflag does", () => {
		expect(readFlagValue("timeout", timeout, "1m30s")).toBe(90_000);
		expect(readFlagValue("grace-period", grace, "-1")).toBe(-1);
		expect(
			["0", "+5", "0x1e", "010", "0b11", "1_000"].map((text) => readFlagValue("grace-period", grace, text)),
		).toEqual([0, 5, 30, 8, 3, 1000]);
		expect(readFlagValue("force", force, "T")).toBe(true);
		expect(readFlagValue("request-timeout", { kind: "timeout", describe: "" }, "5")).toBe(5_000);
	});

	const wrong: readonly { readonly read: () => unknown; readonly message: string }[] = [
		{
			read: () => readFlagValue("timeout", timeout, "abc"),
			message: 'invalid argument "abc" for "--timeout" flag: time: invalid duration "abc"',
		},
		{
			read: () => readFlagValue("timeout", timeout, "30"),
			message: 'invalid argument "30" for "--timeout" flag: time: missing unit in duration "30"',
		},
		{
			read: () => readFlagValue("grace-period", grace, "x"),
			message: 'invalid argument "x" for "--grace-period" flag: strconv.ParseInt: parsing "x": invalid syntax',
		},
		{
			read: () => readFlagValue("timeout", timeout, "1m5x"),
			message: 'invalid argument "1m5x" for "--timeout" flag: time: unknown unit "x" in duration "1m5x"',
		},
		{
			read: () => readFlagValue("grace-period", grace, "08"),
			message: 'invalid argument "08" for "--grace-period" flag: strconv.ParseInt: parsing "08": invalid syntax',
		},
		{
			read: () => readFlagValue("grace-period", grace, "9223372036854775808"),
			message:
				'invalid argument "9223372036854775808" for "--grace-period" flag: strconv.ParseInt: parsing "9223372036854775808": value out of range',
		},
		{
			read: () => readFlagValue("grace-period", grace, "0o"),
			message: 'invalid argument "0o" for "--grace-period" flag: strconv.ParseInt: parsing "0o": invalid syntax',
		},
		{
			// It would be sent as another number.
			read: () => readFlagValue("grace-period", grace, "9007199254740993"),
			message:
				'invalid argument "9007199254740993" for "--grace-period" flag: strconv.ParseInt: parsing "9007199254740993": value out of range',
		},
		{
			read: () => readFlagValue("yes", { ...force, short: "y" }, "maybe"),
			message: 'invalid argument "maybe" for "-y, --yes" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
		},
	];
	for (const { read, message } of wrong) {
		test(message, () => {
			expect(errorOf(read)).toMatchObject({ name: "UsageError", message });
		});
	}
});

test("nearest() finds what was meant within two errors, or by its beginning", () => {
	expect(nearest("evcit", ["evict", "drain"])).toBe("evict");
	expect(nearest("delete-empty", ["delete-emptydir-data", "force"])).toBe("delete-emptydir-data");
	expect(nearest("something", ["evict", "drain"])).toBeUndefined();
});

function errorOf(run: () => unknown): unknown {
	try {
		run();
		return undefined;
	} catch (error) {
		return error;
	}
}
