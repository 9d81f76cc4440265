// Tests that everything the repository's pages refer to exists, and that the commands in them are understood.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { parseCommandLine } from "../../plugin/cli.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { unbuiltRooms } from "../architecture/rooms.ts";
import { readSource } from "../architecture/source-files.ts";
import { choose } from "../bench/plan.ts";
import { findMutant } from "../explore/mutants.ts";
import { type Block, type Found, type Page, parsePage, readPages } from "./markdown.ts";
import { commandLines, shellWords } from "./shell-words.ts";

const pages = readPages();
const byPath = new Map(pages.map((page) => [page.path, page]));
const at = ({ path }: Page, { line, text }: Found): string => `${path}:${line} ${text}`;

function findWrong<T extends Found>(
	each: (page: Page) => readonly T[],
	isWrong: (found: T, page: Page) => boolean,
): readonly string[] {
	return pages.flatMap((page) =>
		each(page)
			.filter((found) => isWrong(found, page))
			.map((found) => at(page, found)),
	);
}

test("README.md can be read in one go: 120 lines", () => {
	expect(readSource("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(120);
});

describe("links", () => {
	test("lead to files and headings that are there", () => {
		const isBroken = ({ text }: Found, page: Page): boolean => {
			if (/^[a-z]+:/.test(text)) return false;
			const [file = "", anchor] = text.split("#");
			const path = file === "" ? page.path : posix.join(posix.dirname(page.path), file);
			if (!existsSync(join(repositoryRoot, path))) return true;
			return anchor !== undefined && byPath.get(path)?.anchors.has(anchor) !== true;
		};
		expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(5);
		expect(findWrong(({ links }) => links, isBroken)).toEqual([]);
	});
});

describe("paths in backticks", () => {
	const folders = /^(agent|demo|disruption|docs|plugin|proto|scripts|test)\/[\w./*-]*$/;

	test("are those of files and folders that are there", () => {
		const isMissing = ({ text }: Found): boolean => {
			if (!folders.test(text) || unbuiltRooms.has(text.replace(/\/$/, ""))) return false;
			if (text.includes("*")) return globSync(text, { cwd: repositoryRoot }).length === 0;
			const path = join(repositoryRoot, text);
			return !existsSync(path) || (text.endsWith("/") && !statSync(path).isDirectory());
		};
		expect(pages.flatMap(({ words }) => words).filter(({ text }) => folders.test(text)).length).toBeGreaterThan(20);
		expect(findWrong(({ words }) => words, isMissing)).toEqual([]);
	});
});

test("names that are said to be in a file are in it", () => {
	const named = pages.flatMap((page) =>
		[...readSource(page.path).matchAll(/`([#\w]+)(?:\(\))?` in\s+`([\w/.-]+\.ts)`/g)].map(
			([text, name = "", file = ""]) => ({
				place: `${page.path}: ${text}`,
				isThere: new RegExp(String.raw`(function|const|class|async|interface|^\t|readonly)\s*${name}\b`, "m").test(
					readSource(file),
				),
			}),
		),
	);
	expect(named.length).toBeGreaterThan(30);
	expect(named.filter(({ isThere }) => !isThere).map(({ place }) => place)).toEqual([]);
});

describe("commands", () => {
	const isShell = ({ language }: Block): boolean => language === "sh" || language === "bash";

	const commandsOf = (page: Page): readonly Found[] => [
		...page.words,
		...page.blocks.flatMap((block) => commandLines(block.text).map((text) => ({ text, line: block.line }))),
	];

	const ours = pages.flatMap((page) =>
		commandsOf(page)
			.filter(({ text }) => /^kubectl[ -]xpdb \S/.test(text))
			.map((found) => ({
				place: at(page, found),
				words: shellWords(found.text).slice(found.text.startsWith("kubectl-") ? 1 : 2),
			})),
	);

	test("of kubectl xpdb are all understood", async () => {
		expect(ours.length).toBeGreaterThan(5);
		const refused: string[] = [];
		for (const { place, words } of ours) {
			await parseCommandLine(words).catch((error: unknown) => refused.push(`${place}: ${String(error)}`));
		}
		expect(refused).toEqual([]);
	});

	test("of npm run name scripts that are there", () => {
		const { scripts } = JSON.parse(readSource("package.json")) as {
			readonly scripts: Readonly<Record<string, string>>;
		};
		const named = pages.flatMap((page) =>
			[...readSource(page.path).matchAll(/npm run ([a-z][a-z0-9:]*)/g)].map((match) => `${page.path}: ${match[1]}`),
		);
		expect(named.length).toBeGreaterThan(5);
		expect(named.filter((name) => !((name.split(": ")[1] ?? "") in scripts))).toEqual([]);
	});

	test("name suites, measurements and mutants that are there", () => {
		const suites = globSync("test/**/*.e2e.test.ts", { cwd: repositoryRoot });
		const wrong = pages.flatMap((page) =>
			[...readSource(page.path).matchAll(/npm run (e2e|bench|explore) --((?: [\w./-]+)+)/g)].flatMap(
				([text, script, rest = ""]) => {
					const words = rest.trim().split(" ");
					const only = words.filter((_, index) => words[index - 1] === "--only");
					if (script === "e2e") return suites.some((path) => path.includes(words[0] ?? "")) ? [] : [text];
					const find = script === "bench" ? (name: string) => choose([name]) : findMutant;
					return only.some((name) => name !== "NAME" && throws(() => find(name))) ? [text] : [];
				},
			),
		);
		expect(wrong).toEqual([]);
	});

	test("in blocks for a shell are ones that bash can read", () => {
		const refused = pages.flatMap((page) =>
			page.blocks
				.filter(isShell)
				.filter(({ text }) => spawnSync("bash", ["-n"], { input: text }).status !== 0)
				.map(({ line }) => `${page.path}:${line}`),
		);
		expect(refused).toEqual([]);
	});
});

function throws(call: () => unknown): boolean {
	try {
		call();
		return false;
	} catch {
		return true;
	}
}

describe("blocks", () => {
	test("of YAML can be parsed", () => {
		const isBroken = ({ text, language }: Block): boolean =>
			language === "yaml" && parseAllDocuments(text).some(({ errors }) => errors.length > 0);
		expect(findWrong(({ blocks }) => blocks, isBroken)).toEqual([]);
	});

	test("of JSON can be parsed, in one or line by line", () => {
		const isJson = (text: string): boolean => {
			try {
				JSON.parse(text);
				return true;
			} catch {
				return false;
			}
		};
		const isBroken = ({ text, language }: Block): boolean =>
			(language === "json" || language === "ndjson") && !isJson(text) && !text.trim().split("\n").every(isJson);
		expect(findWrong(({ blocks }) => blocks, isBroken)).toEqual([]);
	});
});

describe("parsePage()", () => {
	test("finds headings, links, words and blocks, and takes no link out of code", () => {
		const page = parsePage(
			"a.md",
			"# What `it` is, and isn't\n## Twice\n## Twice\nSee [this](b.md#c) and `[x](y)`.\n```sh\n[no](link)\n```\n",
		);
		expect([...page.anchors]).toEqual(["what-it-is-and-isnt", "twice", "twice-1"]);
		expect(page.links).toEqual([{ text: "b.md#c", line: 4 }]);
		expect(page.words.map(({ text }) => text)).toEqual(["it", "[x](y)"]);
		expect(page.blocks).toEqual([{ text: "[no](link)\n", language: "sh", line: 6 }]);
	});

	test("refuses a block without an end", () => {
		expect(() => parsePage("a.md", "```sh\nls\n")).toThrow("a.md:1 begins a block that does not end");
	});
});

describe("shellWords()", () => {
	const rows = [
		{ name: "quotes", command: `a --b="c d" 'e f'`, words: ["a", "--b=c d", "e f"] },
		{ name: "a pipe", command: "a b | c", words: ["a", "b"] },
		{ name: "a comment", command: "a b  # c", words: ["a", "b"] },
		{ name: "a semicolon", command: "a b; c", words: ["a", "b"] },
		{ name: "a pipe in quotes", command: `a "$(b | c)"`, words: ["a", "$(b | c)"] },
	];
	for (const { name, command, words } of rows) {
		test(`ends at or keeps ${name}`, () => {
			expect(shellWords(command)).toEqual(words);
		});
	}
});
