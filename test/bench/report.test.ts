import { expect, test } from "vitest";
import type { Ratio } from "./ratios.ts";
import { formatTable } from "./report.ts";

const ratio: Ratio = { name: "a", what: "a over b", goal: { better: "lower", value: 2 } };
const reported: Ratio = { name: "long_name", what: "the same, p99" };

test("formatTable() says of each ratio what it compares", () => {
	const spread = { median: 1, low: 0.5, high: 3 };
	const table = formatTable([
		{ kind: "measured", ratio, spread },
		{ kind: "missing", ratio: reported, reason: "no time" },
	]);
	expect(table.split("\n")).toEqual([
		"ratio     median (range)       goal                       what is compared",
		"a         1.00 (0.500 to 3.00) <= 2 ####....|.... met     a over b",
		"long_name -                    -                  missing the same, p99",
		"missing: long_name: no time",
	]);
});
