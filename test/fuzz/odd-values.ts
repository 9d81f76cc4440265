// Generates values that readers do not expect.
import fc from "fast-check";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

function nested(depth: number): Json {
	let value: Json = [];
	for (let level = 0; level < depth; level += 1) value = [value];
	return value;
}

const numbers: readonly number[] = [
	0,
	1,
	-1,
	2,
	0.5,
	-0.5,
	99,
	100,
	101,
	127,
	128,
	255,
	65_535,
	65_536,
	2 ** 31 - 1,
	2 ** 31,
	-(2 ** 31),
	2 ** 32,
	2 ** 53,
	-(2 ** 53),
	1e21,
	1e308,
	-1e308,
	5e-324,
];

export const oddTexts: readonly string[] = [
	"",
	" ",
	"0",
	"-1",
	"007",
	"1e9",
	"50%",
	"101%",
	"%",
	"true",
	"null",
	"{}",
	"[]",
	"/",
	"//",
	"a/b/c",
	".",
	"..",
	"-",
	"../../secrets",
	"a b",
	"a\nb",
	"a\u0000b",
	"\u001b[2J",
	"\u009b31m",
	"\u202egpj.exe",
	"d\u200bb",
	"\u2066x\u2028y",
	"\u{e0041}\u00ad",
	"\ud800",
	"😀",
	"ä",
	"\u202e",
	"\ufeff",
	"__proto__",
	"constructor",
	"toString",
	"hasOwnProperty",
	"length",
	"then",
	"x".repeat(64),
	"x".repeat(254),
	"9".repeat(50),
	"y".repeat(5_000),
	"ü".repeat(4_000),
	'"'.repeat(300),
	"Ready",
	"True",
	"2026-11-21T05:00:00Z",
	"shop/db",
	"xpdb.form3.tech/state",
	"12345678901234567890",
];

/** A value with too many levels for recursive functions. */
export const tooDeep = nested(20_000);

const oddConstants: readonly Json[] = [
	null,
	true,
	false,
	[],
	{},
	[null],
	[[]],
	[1, "a"],
	{ a: null },
	{ "": 1 },
	{ length: 3 },
	nested(50),
	...numbers,
	...oddTexts,
];

export const oddText: fc.Arbitrary<string> = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom(...oddTexts) },
	{ weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
	{ weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);

export const oddValue: fc.Arbitrary<Json> = fc.oneof(
	{ weight: 40, arbitrary: fc.constantFrom(...oddConstants) },
	{ weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
	{ weight: 4, arbitrary: fc.integer() },
	{ weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
	{ weight: 1, arbitrary: fc.constant(tooDeep) },
);

/** Returns values of another type or out of range, which no reader may accept for `value`. */
export function garbageFor(value: Json): readonly Json[] {
	const others: readonly Json[] = [true, false, -1, 0.5, 1e308, "", [], {}, [null], { a: 1 }];
	if (typeof value === "string") return others;
	if (typeof value === "number") return [...others, "x", "1", "-1%", "101%"];
	if (typeof value === "boolean") return [...others.filter((other) => typeof other !== "boolean"), "yes", "true", 1];
	return [true, 0, 7, "x", ...(Array.isArray(value) ? [{}, { a: 1 }] : [[], [null]])];
}
