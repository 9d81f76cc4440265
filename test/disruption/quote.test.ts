import { describe, expect, test } from "vitest";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { quote, shorten } from "../../disruption/quote.ts";

describe("quote()", () => {
	const rows: readonly { readonly name: string; readonly value: unknown; readonly shown: string }[] = [
		{ name: "a text in quotes", value: "db", shown: '"db"' },
		{ name: "control characters as JSON does", value: "a\u001b[2J", shown: '"a\\u001b[2J"' },
		{ name: "a number", value: 7, shown: "7" },
		{ name: "a boolean", value: false, shown: "false" },
		{ name: "null", value: null, shown: "null" },
		{ name: "what is not there", value: undefined, shown: "missing" },
		{ name: "a list by what it is", value: [1, 2], shown: "a list" },
		{ name: "an object by what it is", value: { a: 1 }, shown: "an object" },
		{ name: "the beginning of a long text", value: "x".repeat(5_000), shown: `"${"x".repeat(80)}…"` },
	];
	for (const { name, value, shown } of rows) {
		test(`shows ${name}`, () => {
			expect(quote(value)).toBe(shown);
		});
	}

	test("shows a value that is too deep to be written", () => {
		expect(quote(JSON.parse("[".repeat(50_000) + "]".repeat(50_000)))).toBe("a list");
	});
});

test("shorten() leaves no half character", () => {
	expect(shorten(`${"x".repeat(79)}😀`).isWellFormed()).toBe(true);
});

describe("parserProblem()", () => {
	test("is the first line of what the parser says", () => {
		expect(parserProblem(new Error("Bad indentation at line 3:\n\n  a: b\n   ^"))).toBe("Bad indentation at line 3:");
	});

	test("says in words that a text is too deep", () => {
		expect(parserProblem(new RangeError("Maximum call stack size exceeded"))).toBe("it is nested too deeply");
	});
});
