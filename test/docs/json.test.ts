// Tests that the examples of docs/json.md match the strict form of the published schemas.
import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { readSource } from "../architecture/source-files.ts";
import { createValidator, eventProblems, strictSchema } from "../support/json-schema.ts";
import { type Block, parsePage } from "./markdown.ts";

const hasJq = spawnSync("jq", ["--version"]).status === 0;

const sections = new Map(
	readSource("docs/json.md")
		.split(/^## /m)
		.slice(1)
		.map((section) => [section.split("\n")[0] ?? "", parsePage("docs/json.md", section).blocks]),
);
const blocksOf = (section: string, language: string): readonly Block[] =>
	(sections.get(section) ?? []).filter((block) => block.language === language);

describe("examples in docs/json.md", () => {
	const documents = {
		Plan: "plan-v1",
		Budgets: "budgets-v1",
		Explain: "explain-v1",
		Leases: "leases-v1",
		Ops: "operations-v1",
		Version: "version-v1",
		Check: "check-v1",
		Fleet: "fleet-v1",
	};

	test.each(Object.entries(documents))("of %s are as its schema has it", (section, schema) => {
		const validate = createValidator(strictSchema(schema));
		const blocks = blocksOf(section, "json");
		expect(blocks).toHaveLength(1);
		expect(blocks.flatMap(({ text }) => validate(JSON.parse(text)))).toEqual([]);
	});

	test("of events are each as the schema has it, one of every type", () => {
		const { oneOf } = strictSchema("events-v1") as { readonly oneOf: readonly { readonly $ref: string }[] };
		const validate = createValidator(strictSchema("events-v1"));
		const events = blocksOf("Events", "json").map(({ text }) => JSON.parse(text) as { readonly type: string });
		expect(events.map(({ type }) => `#/$defs/${type}`)).toEqual(oneOf.map(({ $ref }) => $ref));
		expect(events.flatMap(validate)).toEqual([]);
	});

	test.skipIf(!hasJq)("of jq read that run", () => {
		const [run] = blocksOf("Events", "ndjson");
		const read = (line: string): string => {
			const filter = /\| jq -r '(.*)'$/.exec(line)?.[1];
			if (filter === undefined) throw new Error(`There is no jq in ${line}`);
			return execFileSync("jq", ["-r", filter], { input: run?.text, encoding: "utf8" });
		};
		const lines = blocksOf("Events", "sh").flatMap(({ text }) => text.trim().split("\n"));
		expect(lines.map(read)).toEqual(["done\nnull\n", ""]);
	});

	test("of a run are a whole one", () => {
		const [run, ...more] = blocksOf("Events", "ndjson");
		expect(more).toEqual([]);
		expect(eventProblems(run?.text ?? "")).toEqual([]);
	});
});
