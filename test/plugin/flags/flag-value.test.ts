import { describe, expect, test } from "vitest";
import { readFlagValue } from "../../../plugin/flags/flag-value.ts";

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
	});

	const requestTimeout = { kind: "timeout", describe: "" } as const;
	for (const [text, ms] of [
		["5", 5_000],
		["+5", 5_000],
		["05", 5_000],
		["1.5s", 1_500],
		["1ns", 1e-6],
		["", 0],
		["-0", 0],
		["-1s", 0],
		["0.1ns", 0],
	] as const) {
		test(`--request-timeout=${text} is ${ms} ms`, () => {
			expect(readFlagValue("request-timeout", requestTimeout, text)).toBe(ms);
		});
	}

	for (const text of ["-1", " 5", "1.5", "1e3", "0x5", "1_000", "1d", "10000000h", "often"]) {
		test(`--request-timeout=${text} is refused in kubectl's words`, () => {
			expect(() => readFlagValue("request-timeout", requestTimeout, text)).toThrow("Invalid timeout value");
		});
	}

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
			// JavaScript would round this number.
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
			expect(read).toThrow(expect.objectContaining({ name: "UsageError", message }));
		});
	}
});
