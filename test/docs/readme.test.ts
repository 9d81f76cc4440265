import { expect, test } from "vitest";
import { commands } from "../../plugin/command-table.ts";
import { readSource } from "../architecture/source-files.ts";

test("the README's table leads to the page of each command", () => {
	const rows = readSource("README.md").match(/^\| .*\]\(docs\/commands\/.*$/gm) ?? [];
	const missing = commands.filter(
		({ name }) => !rows.some((row) => row.includes(`(docs/commands/${name.replaceAll(" ", "-")}.md)`)),
	);
	expect(missing.map(({ name }) => name)).toEqual([]);
});
