// Tests that the code, mutants, tests and durations in docs/design.md are those of the repository.
import { describe, expect, test } from "vitest";
import { readSource } from "../architecture/source-files.ts";
import { membershipMutants } from "../explore/membership-mutants.ts";
import { mutants } from "../explore/mutants.ts";

const page = readSource("docs/design.md");
const caught = [...mutants, ...membershipMutants].filter(({ harmless }) => harmless === undefined);
const editedFiles = new Map(caught.map(({ name, edits }) => [name, new Set(edits.map(({ file }) => file))]));

/** Returns the cells of all table rows in a section, without the heads. */
function rowsOf(heading: string): readonly (readonly string[])[] {
	const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
	return section
		.split("\n")
		.filter((line) => line.startsWith("| ") && !/^\| (Rule|What|---)/.test(line))
		.map((line) => line.split("|").map((cell) => cell.trim()));
}

function namesIn(cell = ""): readonly string[] {
	return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

function isTest(name: string): boolean {
	return name.startsWith("test/");
}

describe("the rules of docs/design.md", () => {
	const rules = rowsOf("Where each rule is").map(([, rule = "", code, without]) => {
		const names = namesIn(without);
		return {
			rule,
			files: namesIn(code).filter((name) => name.includes("/")),
			tests: names.filter(isTest),
			mutantNames: names.filter((name) => !isTest(name)),
		};
	});

	test("name a mutant or a test each, and only mutants that the exploration must catch", () => {
		expect(rules.length).toBeGreaterThan(90);
		const unheld = rules.filter(({ tests, mutantNames }) => tests.length + mutantNames.length === 0);
		expect(unheld.map(({ rule }) => rule)).toEqual([]);
		expect(rules.flatMap(({ mutantNames }) => mutantNames).filter((name) => !editedFiles.has(name))).toEqual([]);
	});

	test("have every mutant among them, once", () => {
		const named = rules.flatMap(({ mutantNames }) => mutantNames);
		expect([...editedFiles.keys()].filter((name) => !named.includes(name))).toEqual([]);
		expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
	});

	test("name the file that each of their mutants edits", () => {
		const elsewhere = rules.flatMap(({ files, mutantNames }) =>
			mutantNames.flatMap((name) =>
				[...(editedFiles.get(name) ?? [])]
					.filter((file) => !files.includes(file))
					.map((file) => `${name} edits ${file}, and its row names ${files.join(", ")}`),
			),
		);
		expect(elsewhere).toEqual([]);
	});

	test("name no file that none of their mutants edits, unless a test holds the rule too", () => {
		const unedited = rules
			.filter(({ tests }) => tests.length === 0)
			.flatMap(({ rule, files, mutantNames }) =>
				files
					.filter((file) => !mutantNames.some((name) => editedFiles.get(name)?.has(file)))
					.map((file) => `${rule}: ${file}`),
			);
		expect(unedited).toEqual([]);
	});
});

describe("the numbers of docs/design.md", () => {
	const milliseconds: Readonly<Record<string, number>> = { s: 1_000, min: 60_000 };
	const numbers = rowsOf("Numbers").map(([, what = "", said = "", where, heldBy]) => {
		const [name = "", file = ""] = namesIn(where);
		return { what, said, name, file, tests: namesIn(heldBy) };
	});

	/** Returns a constant's value, which is a number or a product. Names in a product are constants of disruption/lease/lease.ts. */
	function valueOf(name: string, file: string): number {
		const [, product] = new RegExp(String.raw`\b${name} = ([\w *]+)`).exec(readSource(file)) ?? [];
		if (name === "" || product === undefined) throw new Error(`${file} has no constant "${name}"`);
		return product
			.trim()
			.split(" * ")
			.map((factor) =>
				/^\d/.test(factor) ? Number(factor.replaceAll("_", "")) : valueOf(factor, "disruption/lease/lease.ts"),
			)
			.reduce((left, right) => left * right, 1);
	}

	test("are those of the constants that they name", () => {
		expect(numbers.length).toBeGreaterThan(20);
		const wrong = numbers.flatMap(({ what, said, name, file }) => {
			const [, number = "", unit = ""] = /^([\d.]+) (s|min|times)\b/.exec(said) ?? [];
			const value = Math.round(Number(number) * (milliseconds[unit] ?? 1));
			return number !== "" && value === valueOf(name, file)
				? []
				: [`${what}: ${said}, ${name} is ${valueOf(name, file)}`];
		});
		expect(wrong).toEqual([]);
	});

	test("name a test each", () => {
		expect(numbers.filter(({ tests }) => tests.length === 0 || !tests.every(isTest)).map(({ what }) => what)).toEqual(
			[],
		);
	});
});
