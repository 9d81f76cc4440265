// docs/design.md says what fails without each rule: mutants and tests that are there.
import { describe, expect, test } from "vitest";
import { readSource } from "../architecture/source-files.ts";
import { membershipMutants } from "../explore/membership-mutants.ts";
import { mutants } from "../explore/mutants.ts";

const page = readSource("docs/design.md");
const caught = [...mutants, ...membershipMutants].filter(({ harmless }) => harmless === undefined);
const names = new Set(caught.map(({ name }) => name));

describe("docs/design.md", () => {
	test("says of each rule which mutant or test fails without it, and these are there", () => {
		const table = page.split(/^## /m).find((section) => section.startsWith("Where each rule is")) ?? "";
		const rows = table.split("\n").filter((line) => line.startsWith("| ") && !/^\| (Rule|---)/.test(line));
		expect(rows.length).toBeGreaterThan(20);
		const without = rows.map((row) =>
			[...(row.split("|")[3] ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""),
		);
		expect(rows.filter((_, index) => without[index]?.length === 0)).toEqual([]);
		expect(without.flat().filter((name) => !name.startsWith("test/") && !names.has(name))).toEqual([]);
	});
});
