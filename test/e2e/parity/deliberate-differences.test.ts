// The README shows the whole list of deliberate differences, and nothing else as one.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deliberateDifferences } from "./deliberate-differences.ts";

const heading = "### Where it differs from kubectl";

test("the README's table is the list of deliberate differences", () => {
	const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
	const section = readme.split(`${heading}\n`)[1]?.split(/^#/m)[0] ?? "";
	const rows = section.split("\n").filter((line) => line.startsWith("| "));
	expect(rows).toEqual([
		"| Where | kubectl | kubectl xpdb | Why |",
		"| --- | --- | --- | --- |",
		...deliberateDifferences.map(
			({ subject, kubectl, ours, reason }) => `| ${subject} | ${kubectl} | ${ours} | ${reason} |`,
		),
	]);
});
