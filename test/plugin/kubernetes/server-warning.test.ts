import { describe, expect, test } from "vitest";
import { parseWarnings, tellOnce } from "../../../plugin/kubernetes/server-warning.ts";

describe("parseWarnings()", () => {
	const rows: readonly {
		readonly name: string;
		readonly header: string | undefined;
		readonly expected: readonly string[];
	}[] = [
		{ name: "no header", header: undefined, expected: [] },
		{ name: "one", header: '299 - "think twice"', expected: ["think twice"] },
		{ name: "several, with commas in them", header: '299 - "a, b", 299 k8s "c"', expected: ["a, b", "c"] },
		{ name: "quotes and backslashes", header: '299 - "say \\"no\\" to \\\\"', expected: ['say "no" to \\'] },
		{ name: "other codes and empty ones", header: '199 - "misc", 299 - ""', expected: [] },
		{ name: "a date", header: '299 - "old" "Sat, 25 Aug 2012 23:34:45 GMT", 299 - "new"', expected: ["old", "new"] },
		{ name: "UTF-8", header: Buffer.from('299 - "größer"').toString("latin1"), expected: ["größer"] },
		{ name: "what is no warning", header: "hello", expected: [] },
	];
	for (const { name, header, expected } of rows) {
		test(name, () => {
			expect(parseWarnings(header)).toEqual(expected);
		});
	}
});

test("tellOnce() passes a message on once for each context", () => {
	const told: string[] = [];
	const tell = tellOnce((context, message) => void told.push(`${context}: ${message}`));
	for (const context of ["eu", "us", "eu"]) tell(context, "old");
	tell("eu", "older");
	expect(told).toEqual(["eu: old", "us: old", "eu: older"]);
});
