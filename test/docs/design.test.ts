// docs/design.md says where each rule is and what fails without it: the names in it are those of the code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { readSource } from "../architecture/source-files.ts";
import { membershipMutants } from "../explore/membership-mutants.ts";
import { mutants } from "../explore/mutants.ts";

const page = readSource("docs/design.md");
const caught = [...mutants, ...membershipMutants].filter(({ harmless }) => harmless === undefined);
const names = new Set(caught.map(({ name }) => name));

describe("docs/design.md", () => {
	test("names functions and numbers that are in the files which it gives for them", () => {
		const found = [...page.matchAll(/`([#\w]+)` in `([\w/.-]+\.ts)`/g)];
		expect(found.length).toBeGreaterThan(30);
		const missing = found.filter(([, symbol = "", file = ""]) => {
			const text = readFileSync(join(repositoryRoot, file), "utf8");
			return !new RegExp(String.raw`(function|const|class|async|interface|^\t|readonly)\s*${symbol}\b`, "m").test(text);
		});
		expect(missing.map(([text]) => text)).toEqual([]);
	});

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
