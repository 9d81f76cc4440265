import { describe, expect, test } from "vitest";
import { withGeneratedParts } from "./generated-parts.ts";

const page = (text: string): string => `# Title\n\n<!-- generated: rows -->\n${text}<!-- /generated -->\n\nBy hand.\n`;

describe("withGeneratedParts()", () => {
	test("makes a part anew, as it stands and however it stood, and leaves the rest alone", () => {
		const made = page("\n| a $1 |\n\n");
		expect(withGeneratedParts(page(""), { rows: "| a $1 |" })).toBe(made);
		expect(withGeneratedParts(page("\n| old |\n\n"), { rows: "| a $1 |" })).toBe(made);
		expect(withGeneratedParts(made, { rows: "| a $1 |" })).toBe(made);
	});

	test("takes no page that lacks a part, has one too many, or one twice", () => {
		expect(() => withGeneratedParts("# Title\n", { rows: "" })).toThrow('places for [], generated were ["rows"]');
		expect(() => withGeneratedParts(page(""), {})).toThrow('places for ["rows"], generated were []');
		expect(() => withGeneratedParts(page("") + page(""), { rows: "" })).toThrow('places for ["rows","rows"]');
	});
});
