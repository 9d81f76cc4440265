import { describe, expect, test } from "vitest";
import { createMetrics } from "../../agent/process/metrics.ts";
import { readSource } from "../architecture/source-files.ts";

const { registry } = createMetrics({ version: "" });
const page = readSource("docs/operations.md");

describe("docs/operations.md", () => {
	const names = registry
		.getMetricsAsArray()
		.map(({ name }) => name)
		.filter((name) => name.startsWith("xpdb_"));

	test("has a row for each metric of an agent, and for nothing else", () => {
		const rows = [...page.matchAll(/^\| `(xpdb_\w+)` \|.{20,}\|$/gm)].map(([, name = ""]) => name);
		expect(rows.toSorted()).toEqual(names.toSorted());
	});

	test("names no metric elsewhere that no agent has", () => {
		const named = [...page.matchAll(/\bxpdb_[a-z_]+/g)].map(([name]) => name.replace(/_(count|sum|bucket)$/, ""));
		expect(named.filter((name) => !names.includes(name))).toEqual([]);
	});
});
