import { describe, expect, test } from "vitest";
import { checkDocument } from "../../../plugin/check/check-document.ts";
import { CheckLines, type CheckLinesOptions } from "../../../plugin/check/check-lines.ts";
import type { CheckReason } from "../../../plugin/check/check-reason.ts";
import { type CheckRow, checkRow, notChecked, outcomeOf } from "../../../plugin/check/check-report.ts";
import { createValidator, strictSchema } from "../../support/json-schema.ts";

const title = { category: "agents", title: "agents are ready, two or more", isNeeded: true } as const;
const clusters = ["prod-eu", "prod-us", "prod-ap"];

/** Returns a row in which only prod-us can have a finding. */
function rowWith(reason?: CheckReason, change: Partial<CheckRow> = {}): CheckRow {
	const row = checkRow({ ...title, ...change }, clusters, (cluster) =>
		cluster !== "prod-us" || reason === undefined
			? { text: "2/2", findings: [] }
			: { text: "1/1", findings: [{ reason, message: "it has a single agent", fix: "kubectl get pods" }] },
	);
	return { ...row, ...change };
}

describe("checkRow()", () => {
	test("comes to its worst finding", () => {
		expect(rowWith().result).toBe("ok");
		expect(rowWith("SingleAgent").result).toBe("warning");
		expect(rowWith("AgentSilent").result).toBe("unknown");
		expect(rowWith("NoAgents").result).toBe("failed");
	});

	test("knows nothing of a cluster that nobody looked at, and nothing at all without clusters", () => {
		const row = checkRow(title, ["eu", "us"], (cluster) =>
			cluster === "eu" ? { text: "2/2", findings: [] } : undefined,
		);
		expect(row).toMatchObject({
			result: "unknown",
			cells: [{ result: "ok" }, { text: "?", result: "unknown" }],
			findings: [{ reason: "NotChecked", cluster: "us" }],
		});
		expect(checkRow(title, [], () => undefined).result).toBe("unknown");
	});

	test("says of no cluster what is about the fleet", () => {
		const fleet = [{ reason: "BudgetsDiffer", message: "two bounds" }] as const;
		expect(checkRow(title, ["eu"], () => ({ text: "1", findings: [] }), fleet)).toMatchObject({
			result: "warning",
			cells: [{ result: "ok" }],
			findings: [{ cluster: "", message: "two bounds" }],
		});
	});
});

describe("outcomeOf()", () => {
	const cases: readonly (readonly [name: string, rows: readonly CheckRow[], code: number, strictly: number])[] = [
		["all is well", [rowWith()], 0, 0],
		["a warning", [rowWith(), rowWith("SingleAgent")], 0, 3],
		["a failure", [rowWith("SingleAgent"), rowWith("NoAgents")], 3, 3],
		["what an eviction needs is unknown", [rowWith("AgentSilent"), rowWith("SingleAgent")], 4, 4],
		["something else is unknown", [rowWith("NotChecked", { isNeeded: false })], 0, 3],
		["a failure is worse than what is unknown", [rowWith("AgentSilent"), rowWith("NoAgents")], 3, 3],
	];
	for (const [name, rows, code, strictly] of cases) {
		test(`has the exit code of the worst: ${name}`, () => {
			expect([outcomeOf(rows, false).exitCode, outcomeOf(rows, true).exitCode]).toEqual([code, strictly]);
		});
	}

	test("names what keeps evictions from being made, and nothing else", () => {
		const rows = [rowWith("SingleAgent"), rowWith("NoAgents"), rowWith("NoAgents"), rowWith("AgentSilent")];
		expect(outcomeOf(rows, false).blocking).toEqual(["XPDB1311", "XPDB1312"]);
	});
});

function printed(rows: readonly CheckRow[], options: Partial<CheckLinesOptions> = {}): string {
	const lines = new CheckLines({ columns: undefined, hasUnicode: true, short: false, ...options });
	return rows.flatMap((row) => lines.row(row)).join("\n");
}

describe("CheckLines", () => {
	test("prints a column for each cluster, and below a row what was found, with its code and what helps", () => {
		expect(
			printed([rowWith(), rowWith("SingleAgent"), rowWith("NoAgents", { category: "fleet" })], { columns: 100 }),
		).toBe(
			[
				"agents                                prod-eu   prod-us   prod-ap",
				"✔ agents are ready, two or more       2/2       2/2       2/2",
				"! agents are ready, two or more       2/2       1/1       2/2       XPDB1313",
				"    prod-us: it has a single agent",
				"    fix:  kubectl get pods",
				"",
				"fleet                                 prod-eu   prod-us   prod-ap",
				"✖ agents are ready, two or more       2/2       1/1       2/2       XPDB1311",
				"    prod-us: it has a single agent",
				// Each command is printed once, because a repeated command that creates something would fail.
				"    fix:  the same command as above",
			].join("\n"),
		);
	});

	test("has signs that every terminal has, and leaves out what is well where only problems are wanted", () => {
		expect(printed([rowWith(), rowWith("AgentSilent")], { hasUnicode: false, short: true })).toBe(
			[
				"agents                                 prod-eu   prod-us   prod-ap",
				"?  agents are ready, two or more       2/2       1/1       2/2       XPDB1312",
				"    prod-us: it has a single agent",
				"    fix:  kubectl get pods",
			].join("\n"),
		);
	});

	for (const columns of [60, 80, 100, 140]) {
		test(`fits ${columns} columns, but for commands, whatever the names of clusters are`, () => {
			const names = [
				clusters,
				["arn:aws:eks:eu-west-1:123456789012:cluster/prod"],
				[...Array(12).keys()].map((n) => `c${n}`),
			];
			for (const of of names) {
				const row = checkRow(title, of, () => notChecked("a reason with very many words ".repeat(5).trim()));
				const lines = printed([row, rowWith("SingleAgent")], { columns }).split("\n");
				expect(lines.filter((line) => line.length > columns && !line.includes("fix:"))).toEqual([]);
			}
		});
	}

	test("says once what is the same in many clusters, and once that a cluster gives no answer", () => {
		const silent = checkRow(title, ["eu", "us"], () => notChecked("its API server gives no answer"));
		expect(printed([silent, silent]).match(/gives no answer/g)).toHaveLength(1);
		expect(printed([silent])).toContain("    eu, us: its API server gives no answer");
	});

	test("counts what is too much to read, and -o json has all of it", () => {
		const many = [...Array(300).keys()].map((n) => ({ reason: "BudgetNeverMet", message: `budget b${n}` }) as const);
		const row = checkRow(title, ["eu"], () => ({ text: "300", findings: [] }), many);
		const text = printed([row]);
		expect(text.split("\n")).toHaveLength(8);
		expect(text).toContain("    and 295 more: -o json has all of them");
		expect(checkDocument([row], outcomeOf([row], false))).toMatchObject({ checks: [{ findings: { length: 300 } }] });
	});

	test("sums up what keeps evictions from being made", () => {
		const lines = new CheckLines({ columns: 80, hasUnicode: true, short: false });
		const rows = [rowWith(), rowWith("SingleAgent"), rowWith("NoAgents")];
		expect(lines.summary(outcomeOf(rows, false), 1_840)).toEqual([
			"",
			"3 checks: 1 ok, 1 warning, 1 failed (1.8 s).  Put right first: XPDB1311.",
		]);
		expect(lines.summary(outcomeOf([rowWith()], true), 40)).toEqual(["", "1 checks: 1 ok (0.0 s)."]);
	});
});

test("checkDocument() is as published", () => {
	const rows = [
		rowWith(),
		rowWith("SingleAgent"),
		rowWith("AgentSilent"),
		checkRow(title, ["eu"], () => undefined, [{ reason: "BudgetsDiffer", message: "two bounds" }]),
	];
	expect(createValidator(strictSchema("check-v1"))(checkDocument(rows, outcomeOf(rows, false)))).toEqual([]);
});
