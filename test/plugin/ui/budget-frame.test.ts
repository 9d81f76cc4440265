import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { BudgetRow } from "../../../plugin/fleet/budget-table.ts";
import type { MemberState } from "../../../plugin/fleet/watched-member.ts";
import { BudgetBoard } from "../../../plugin/ui/budget-board.ts";
import { budgetFrame, type WatchedNamespaces } from "../../../plugin/ui/budget-frame.ts";
import { type BudgetView, firstBudgetView } from "../../../plugin/ui/budget-view.ts";
import { asciiGlyphs, unicodeGlyphs } from "../../../plugin/ui/glyphs.ts";
import { lineText } from "../../../plugin/ui/styled-line.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

const now = Date.parse("2026-01-01T00:02:41.000Z");
const contextOf = (cluster: string): string | undefined => (cluster === "prod-us" ? undefined : `${cluster}-admin`);
const live = (name: string): MemberState => ({ name, problem: undefined, isPolled: false });
const members = ["prod-ap", "prod-eu", "prod-us"].map(live);

function row(name: string, counts: readonly (number | undefined)[], more: Partial<BudgetRow> = {}): BudgetRow {
	const healthy = counts.every((count) => count !== undefined)
		? counts.reduce((sum, count) => sum + count, 0)
		: undefined;
	return {
		namespace: "payments",
		name,
		healthy,
		allowed: healthy === undefined ? undefined : Math.max(0, healthy - 16),
		need: healthy === undefined ? undefined : 16,
		expected: healthy === undefined ? undefined : 18,
		suspended: false,
		perCluster: new Map(members.map(({ name: member }, at) => [member, { healthy: counts[at], expected: 6 }])),
		members: members.map(({ name: cluster }) => ({
			cluster,
			bound: "maxUnavailable 2",
			suspended: false,
			suspension: undefined,
		})),
		usedBy: [],
		problem: undefined,
		...more,
	};
}

const rows: readonly BudgetRow[] = [
	row("api", [5, 5, 6], {
		usedBy: [
			{
				cluster: "prod-eu",
				namespace: "payments",
				name: "api-7c9d4-x2xqz",
				why: "Reserved",
				holder: "drain 7f3c2a by dana@laptop",
				account: "xpdb-system/xpdb-operator",
				sinceSeconds: now / 1_000 - 12,
			},
			{
				cluster: "prod-ap",
				namespace: "payments",
				name: "api-7c9d4-9mm4t",
				why: "NotReady",
				state: "CrashLoopBackOff",
				sinceSeconds: now / 1_000 - 10_800,
			},
		],
	}),
	row("batch", [undefined, 6, 6], { problem: "prod-ap: its agents give no answer" }),
	row("gateway", [6, 6, 6]),
	row("statements", [6, 6, 6], { allowed: undefined, need: undefined, expected: undefined, suspended: true }),
];

/** As explanationLines() returns them. */
const explained = [
	"Not now: budget payments/api is used up.",
	"  budget payments/api needs 16 healthy pods and has 16: prod-eu/api-7c9d4-x2xqz is being evicted, prod-ap/api-7c9d4-9mm4t is not ready",
	"",
	"Who uses it up:",
	"  kubectl describe pod api-7c9d4-9mm4t -n payments --context prod-ap",
];

interface Look {
	readonly columns: number;
	readonly lines: number;
	readonly ascii?: boolean;
	readonly view?: Partial<BudgetView>;
	readonly board?: BudgetBoard;
	readonly namespaces?: WatchedNamespaces;
}

function boardOf(changed: readonly BudgetRow[], states: readonly MemberState[] = members): BudgetBoard {
	const board = new BudgetBoard();
	board.see({ changed, gone: [], members: states }, now);
	const healthy = Array.from({ length: 60 }, (_, at) => (at === 40 ? undefined : at === 30 ? 15 : at < 52 ? 18 : 16));
	board.seeHistories(new Map([["payments/api", { lastAt: now / 1_000 - 41, everySeconds: 60, healthy }]]));
	return board;
}

function frame({
	columns,
	lines,
	ascii = false,
	view = {},
	board = boardOf(rows),
	namespaces = "all",
}: Look): readonly string[] {
	const glyphs = ascii ? asciiGlyphs : unicodeGlyphs;
	const options = {
		columns,
		rows: lines,
		glyphs,
		now,
		contexts: ["eu", "us"],
		namespaces,
		suggest: suggestDefault,
		contextOf,
	};
	return budgetFrame(board, { ...firstBudgetView, ...view }, options).map((line) =>
		lineText(line)
			.replaceAll(/\d\d:\d\d:\d\d/g, "hh:mm:ss")
			.replaceAll(/last \d\d:\d\d/g, "last hh:mm")
			.trimEnd(),
	);
}

const text = (look: Look): string => `\n${frame(look).join("\n")}\n`;
const open: Partial<BudgetView> = { selected: "payments/api", pane: "details" };

describe("budgetFrame()", () => {
	test.each([
		[60, 15],
		[80, 24],
		[100, 30],
		[140, 40],
	])("is drawn at %dx%d", (columns, lines) => {
		expect(text({ columns, lines })).toMatchSnapshot("rows");
		expect(text({ columns, lines, view: open })).toMatchSnapshot("details");
	});

	test.each([
		[60, 15],
		[80, 24],
		[140, 40],
	])("explains the selected budget at %dx%d, as soon as that is known", (columns, lines) => {
		const board = boardOf(rows);
		const view: Partial<BudgetView> = { selected: "payments/api", pane: "explain" };
		const key = "payments/api";
		board.explanation = { key, at: now, lines: undefined };
		expect(text({ columns, lines, board, view })).toContain("asking the agents of all members");
		board.explanation = { key, at: now, lines: explained };
		expect(text({ columns, lines, board, view })).toMatchSnapshot("explained");
		board.explanation = { key: "payments/gateway", at: now, lines: explained };
		expect(text({ columns, lines, board, view })).not.toContain("Not now");
	});

	test("is drawn in ASCII", () => {
		const drawn = text({ columns: 80, lines: 24, ascii: true, view: open });
		expect(drawn).toMatch(/^[\x20-\x7e\n]*$/);
		expect(drawn).toMatchSnapshot();
	});

	test("is never wider than the terminal, nor as high as it", () => {
		const long = row("a-budget-with-a-very-long-name-".repeat(6), [5, 5, 6], rows[0]);
		const silent = [...members.slice(1), { name: "prod-ap", problem: "no answer ".repeat(30), isPolled: false }];
		for (const board of [boardOf([...rows, long]), boardOf([...rows, long], silent), new BudgetBoard()]) {
			for (const view of [{}, open, { pane: "help" as const }, { isTyping: true, filter: "x".repeat(60) }]) {
				for (const columns of [20, 59, 60, 79, 80, 99, 100, 139, 140, 200]) {
					for (const lines of [2, 14, 15, 24, 60]) {
						const drawn = frame({ columns, lines, view, board });
						expect(drawn.length).toBeLessThanOrEqual(lines - 1);
						for (const line of drawn) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
					}
				}
			}
		}
	});

	test("has no line that a terminal would leave out", () => {
		const options = {
			columns: 80,
			rows: 24,
			glyphs: unicodeGlyphs,
			now,
			contexts: [],
			namespaces: "all" as const,
			suggest: suggestDefault,
			contextOf,
		};
		for (const view of [firstBudgetView, { ...firstBudgetView, ...open }]) {
			const drawn = budgetFrame(boardOf(rows), view, options);
			expect(drawn.filter((line) => line.length > 0 && lineText(line) === "")).toEqual([]);
		}
	});

	test("has a help that is read to its end at 60 columns, and fits 80", () => {
		const help = (columns: number): string => text({ columns, lines: 40, view: { pane: "help" } });
		expect(help(60).replaceAll(/\s+/g, " ")).toContain(
			"why it allows an eviction now, or not (explain budget/NAME) tab, e, y in the details",
		);
		expect(help(80)).not.toContain("..");
		expect(
			help(80)
				.split("\n")
				.filter((line) => line.startsWith("  ")).length,
		).toBe(13);
	});

	test("says who is asked before there is an answer", () => {
		const drawn = text({ columns: 80, lines: 24, board: new BudgetBoard() });
		expect(drawn).toContain("xpdb budgets -w  eu, us");
		expect(drawn).toContain("asking the agents of all members ...");
		expect(drawn).toContain("BUDGET");
	});

	test("shows what is not known as ?, and by whom, and never as a number", () => {
		const silent = [{ name: "prod-ap", problem: "its agents give no answer", isPolled: false }, ...members.slice(1)];
		const drawn = frame({ columns: 140, lines: 40, board: boardOf(rows, silent) });
		expect(drawn[0]).toContain("2/3 live  4 budgets: 1 used up, 1 unknown");
		expect(drawn.find((line) => line.includes("payments/batch"))).toMatch(/batch +\? +\?\/\? +\? +\? +6\/6 +6\/6/);
		expect(drawn.join("\n")).toContain("? = not known by prod-ap: counts as 0");
	});

	test("says which namespaces it is about where it is not about all", () => {
		const note = (namespaces: WatchedNamespaces, board = boardOf(rows)) =>
			frame({ columns: 80, lines: 24, board, namespaces }).join("\n");
		expect(note("own")).toContain("only namespace payments: -A shows all");
		expect(note({ only: "shop" })).toContain("only namespace shop: -A shows all");
		expect(note("own", boardOf([]))).toContain("only namespace the contexts' own: -A shows all");
		expect(note("all")).not.toContain("-A");
		expect(note("own", new BudgetBoard())).not.toContain("-A");
	});

	test("says of a budget that nobody uses up and that lets none go why that is", () => {
		const strict = row("ledger", [6, 6, 6], { allowed: 0, need: 18 });
		const [line] = frame({ columns: 80, lines: 24, board: boardOf([strict]) }).slice(2);
		expect(line).toMatch(/ 0 of 0 +18\/18 +18 +none, all pods are required$/);
	});

	test("counts a budget without pods among none that keep somebody waiting, and shows it below them", () => {
		const none = row("a-relic", [0, 0, 0], { allowed: 0, need: 0, expected: 0, perCluster: new Map() });
		const drawn = frame({ columns: 100, lines: 30, board: boardOf([none, ...rows]) });
		expect(drawn[0]).toContain("5 budgets: 1 used up, 1 unknown");
		expect(drawn.slice(2, 7).map((line) => line.trim().split(" ")[0])).toEqual([
			"payments/batch",
			"payments/api",
			"payments/gateway",
			"payments/a-relic",
			"payments/statements",
		]);
		expect(drawn[5]).toMatch(/ 0 of 0 +0\/0 +0 +no pods$/);
	});

	test("says whole who takes a pod, however narrow the terminal is", () => {
		for (const columns of [60, 80, 100]) {
			expect(text({ columns, lines: 60, view: open }).replaceAll(/\s+/g, " ")).toContain(
				"being evicted 12s by drain 7f3c2a by dana@laptop as xpdb-system/xpdb-operator; frees when",
			);
		}
	});

	test("says of pods that are not there how many, and in which cluster", () => {
		const absent = row("api", [6, 5, 6]);
		const beside = { ...row("ledger", [4, 5, 5], { usedBy: rows[0]?.usedBy.slice(0, 1) ?? [] }) };
		const drawn = (look: Partial<Look>) =>
			frame({ columns: 100, lines: 30, board: boardOf([absent, beside]), ...look });
		expect(drawn({}).find((line) => line.includes("payments/api"))).toMatch(/ prod-eu: 1 pod missing$/);
		expect(drawn({}).find((line) => line.includes("payments/ledger"))).toMatch(/ being evicted 12s \+3$/);
		expect(drawn({ view: open }).join("\n").replaceAll(/\s+/g, " ")).toContain(
			"NOT HEALTHY: each uses 1 of 2 allowed prod-eu 1 pod missing " +
				"its controller wants it, and it is not there: frees when it is made and ready",
		);
	});

	test("makes only the rows that are seen of 1,000, the selected one among them", () => {
		const many = Array.from({ length: 1_000 }, (_, at) => row(`b-${String(at).padStart(4, "0")}`, [6, 6, 6]));
		const drawn = frame({ columns: 80, lines: 24, board: boardOf(many), view: { selected: "payments/b-0500" } });
		expect(drawn).toHaveLength(23);
		expect(drawn.filter((line) => line.includes("> payments/b-0500"))).toHaveLength(1);
	});
});

describe("BudgetBoard", () => {
	test("says how many rows are out of sight, and names every key, at three sizes", () => {
		const board = boardOf(
			Array.from({ length: 60 }, (_, at) => row(`budget-${String(at).padStart(2, "0")}`, [6, 6, 6])),
		);
		for (const [columns, lines] of [
			[60, 15],
			[80, 24],
			[140, 40],
		] as const) {
			const drawn = frame({ columns, lines, board, view: { selected: "payments/budget-30" } });
			const shown = drawn.filter((line) => /payments\/budget-/.test(line)).length;
			const [, above, below] = /\+ (\d+) above, (\d+) more rows below/.exec(drawn.join("\n")) ?? [];
			expect(Number(above) + Number(below) + shown).toBe(60);
			const keys = drawn.at(-1) ?? "";
			for (const key of [/up/, /enter/, /\be\b/, /s\/r/, / \//, /\bn\b/, /\bq\b/, /\? ?-?help$/])
				expect(keys).toMatch(key);
		}
		const few = boardOf([row("budget-0", [6, 6, 6])]);
		expect(frame({ columns: 80, lines: 24, board: few }).join("\n")).not.toContain("more row");
	});

	test("explains the pod that is selected, and shows an object", () => {
		const page = { ...open, culprit: 1 } as const;
		const look = (view: Partial<BudgetView>, board = boardOf(rows)) =>
			frame({ columns: 100, lines: 30, board, view }).join("\n");
		expect(look(page)).toMatch(/NOT HEALTHY: each uses 1 .*\(tab selects one, e explains it, y shows it\)/);
		expect(look(page)).toMatch(/> prod-ap +api-7c9d4-9mm4t +CrashLoopBackOff/);
		const explained = look({ ...page, pane: "culprit" });
		expect(explained).toContain("Pod payments/api-7c9d4-9mm4t in prod-ap-admin");
		expect(explained).toContain(
			"It uses 1 of what budget payments/api allows; frees when Ready (now CrashLoopBackOff).",
		);
		expect(explained).toContain("See: kubectl describe pod api-7c9d4-9mm4t -n payments --context prod-ap-admin");
		expect(look({ ...page, culprit: 7, pane: "culprit" })).toContain("It does not use the budget up any more.");
		const board = boardOf(rows);
		const object = { kind: "budget", context: undefined, namespace: "payments", name: "api" } as const;
		board.object = { object, at: now, lines: undefined };
		expect(look({ ...open, pane: "object" }, board)).toContain("reading it ...");
		board.object = { object, at: now, lines: ["# eu", "kind: XPodDisruptionBudget"] };
		expect(look({ ...open, pane: "object" }, board)).toMatch(
			/budget payments\/api, read at hh:mm:ss\n # eu\n kind: XPod/,
		);
	});

	test("sorts by what is allowed: unknown first, suspended last", () => {
		expect(boardOf(rows).shown(firstBudgetView, now)).toEqual([
			"payments/batch",
			"payments/api",
			"payments/gateway",
			"payments/statements",
		]);
		expect(boardOf(rows).shown({ ...firstBudgetView, sort: "BUDGET", isReversed: true }, now)[0]).toBe(
			"payments/statements",
		);
	});

	test("has its first rows in their order, however long nobody answered before", () => {
		const board = new BudgetBoard();
		board.shown(firstBudgetView, now);
		board.see({ changed: [...rows].toReversed(), gone: [], members }, now + 100);
		expect(board.shown(firstBudgetView, now + 100)[0]).toBe("payments/batch");
	});

	test("keeps every row in its place for five seconds, whatever changes", () => {
		const board = boardOf(rows);
		const before = board.shown(firstBudgetView, now);
		board.see({ changed: [row("gateway", [1, 1, 1]), row("new", [1, 1, 1])], gone: [], members }, now + 1_000);
		expect(board.shown(firstBudgetView, now + 4_999)).toEqual([...before, "payments/new"]);
		expect(board.shown(firstBudgetView, now + 5_000).slice(0, 4)).toEqual([
			"payments/batch",
			"payments/api",
			"payments/gateway",
			"payments/new",
		]);
	});

	test("forgets what is gone", () => {
		const board = boardOf(rows);
		board.see({ changed: [], gone: [{ namespace: "payments", name: "api" }], members }, now);
		expect(board.shown(firstBudgetView, now)).not.toContain("payments/api");
	});

	test("shows what the filter and the namespace leave", () => {
		const board = boardOf([...rows, { ...row("web", [6, 6, 6]), namespace: "shop" }]);
		const shown = (view: Partial<BudgetView>) => board.shown({ ...firstBudgetView, sort: "BUDGET", ...view }, now);
		expect(shown({ filter: "ba" })).toEqual(["payments/batch"]);
		expect(shown({ filter: "!pay" })).toEqual(["shop/web"]);
		expect(shown({ namespace: "shop" })).toEqual(["shop/web"]);
		expect(board.namespaces()).toEqual(["payments", "shop"]);
	});
});
