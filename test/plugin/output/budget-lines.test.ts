import { describe, expect, test } from "vitest";
import type { BudgetRow, PodOfBudget } from "../../../plugin/fleet/budget-table.ts";
import { budgetLines, budgetNotes } from "../../../plugin/output/budget-lines.ts";
import { budgetsDocument } from "../../../plugin/output/budgets-document.ts";
import { createValidator, strictSchema } from "../../support/json-schema.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const ago = (seconds: number): number => now / 1_000 - seconds;
const clusters = ["c1", "c2", "c3"];
const suspension = { by: "alice@laptop", since: "2026-01-01T00:48:00.000Z", reason: "storage migration" };
const scheduler = "0/3 nodes are available: 3 node(s) were unschedulable.";

const member = (cluster: string, bound: string, suspended = false) => ({
	cluster,
	bound,
	suspended,
	suspension: suspended ? suspension : undefined,
});

function row(name: string, more: Partial<BudgetRow> = {}): BudgetRow {
	return {
		namespace: "shop",
		name,
		allowed: 1,
		healthy: 6,
		need: 5,
		expected: 6,
		suspended: false,
		perCluster: new Map(clusters.map((each) => [each, { healthy: 2, expected: 2 }])),
		members: clusters.map((each) => member(each, "maxUnavailable 1")),
		usedBy: [],
		problem: undefined,
		...more,
	};
}

const pod = (cluster: string, name: string, more: Partial<PodOfBudget>): PodOfBudget => ({
	cluster,
	namespace: "shop",
	name,
	why: "NotReady",
	...more,
});

const rows: readonly BudgetRow[] = [
	row("cart"),
	row("db", {
		allowed: 0,
		healthy: 4,
		need: 5,
		members: [member("c1", "maxUnavailable 1"), member("c2", "maxUnavailable 1"), member("c3", "maxUnavailable 2")],
		usedBy: [
			pod("c1", "db-0", {
				why: "Reserved",
				state: "Reserved",
				holder: "bob@desk drain 7f3c2a",
				account: "system:serviceaccount:xpdb-system:xpdb-operator",
				sinceSeconds: ago(3),
			}),
			pod("c2", "db-1", { state: "Pending", sinceSeconds: ago(540), message: scheduler }),
			// An old agent reports no state, and this holder is not a run of xpdb.
			pod("c3", "db-1", { why: "Terminating", holder: "x-pdb" }),
		],
	}),
	row("web", {
		allowed: undefined,
		need: undefined,
		expected: undefined,
		suspended: true,
		members: clusters.map((each) => member(each, "minAvailable 50%", true)),
	}),
	row("worker", {
		allowed: undefined,
		healthy: undefined,
		need: undefined,
		expected: undefined,
		problem: "it is garbled",
		members: [],
		perCluster: new Map(),
	}),
];

const frame = (options: Partial<Parameters<typeof budgetLines>[1]>): string =>
	budgetLines(rows, {
		isWide: false,
		listsPods: false,
		headers: true,
		clusters,
		columns: undefined,
		now,
		...options,
	}).join("\n");

describe("budgetLines()", () => {
	test("names the first of the pods that use a budget up", () => {
		expect(frame({})).toBe(
			`
NAMESPACE   NAME     ALLOWED   HEALTHY   NEED   EXPECTED   USED BY
shop        cart     1         6         5      6
shop        db       0         4         5      6          c1/db-0 Reserved 3s, 2 more
shop        web      off       6         -      -          suspended by alice@laptop 12m00s
shop        worker   ?         ?         ?      ?
`.trim(),
		);
	});

	test("fits 80 columns: only the last one gives way", () => {
		const lines = frame({ columns: 80 }).split("\n");
		expect(lines[2]).toBe("shop        db       0         4         5      6          c1/db-0 Reserved 3s,…");
		expect(Math.max(...lines.map((line) => line.length))).toBe(80);
	});

	test("has a column for each cluster, the bounds, and a row for each of these pods, with -o wide", () => {
		expect(frame({ isWide: true, listsPods: true })).toBe(
			`
NAMESPACE   NAME     ALLOWED   HEALTHY   NEED   EXPECTED   c1    c2    c3    BOUND
shop        cart     1         6         5      6          2/2   2/2   2/2   maxUnavailable 1
shop        db       0         4         5      6          2/2   2/2   2/2   c3: maxUnavailable 2, elsewhere maxUnavailable 1
shop        web      off       6         -      -          2/2   2/2   2/2   minAvailable 50%
shop        worker   ?         ?         ?      ?          ?     ?     ?

BUDGET    CLUSTER   POD    STATE         AGE     OPERATION      BY         ACCOUNT                     MESSAGE
shop/db   c1        db-0   Reserved      3s      drain 7f3c2a   bob@desk   xpdb-system/xpdb-operator
shop/db   c2        db-1   Pending       9m00s   -              -          -                           ${scheduler}
shop/db   c3        db-1   Terminating   -       -              x-pdb      -
`.trim(),
		);
	});

	test("lets no column go over the end of a terminal, with -o wide: the widest give way", () => {
		for (const columns of [80, 100, 140]) {
			const lines = frame({ isWide: true, listsPods: true, columns }).split("\n");
			expect(lines).toHaveLength(10);
			expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
		}
		const [, , named] = frame({ isWide: true, listsPods: true, columns: 100 }).split("\n");
		expect(named).toMatch(/^shop {8}db {7}0 .*2\/2 {3}2\/2 {3}2\/2 {3}c3: max\S.*\.\..*le 1$/);
	});

	test("has them for budgets that were named, without a column for each cluster", () => {
		const lines = frame({ listsPods: true, headers: false }).split("\n");
		expect(lines[1]).toBe("shop   db       0     4   5   6   c3: maxUnavailable 2, elsewhere maxUnavailable 1");
		expect(lines.slice(4)).toHaveLength(4);
	});

	test("says how many pods are not there, and where: they have no names", () => {
		const perCluster = new Map(clusters.map((each, at) => [each, { healthy: at, expected: 2 }]));
		const lines = (usedBy: readonly PodOfBudget[], listsPods = false): readonly string[] =>
			budgetLines([row("db", { perCluster, usedBy })], {
				isWide: false,
				listsPods,
				headers: false,
				clusters,
				columns: undefined,
				now,
			});
		expect(lines([])[0]).toMatch(/ {3}c1: 2 pods missing, c2: 1 pod missing$/);
		const starting = pod("c1", "db-0", { state: "Pending", sinceSeconds: ago(540) });
		expect(lines([starting])[0]).toMatch(/ {3}c1\/db-0 Pending 9m00s, 2 more$/);
		expect(lines([starting], true).slice(2)).toEqual([
			"shop/db   c1   db-0   Pending     9m00s   -   -   -",
			"shop/db   c1   -      1 missing   -       -   -   -",
			"shop/db   c2   -      1 missing   -       -   -   -",
		]);
	});

	test("lets no name of others steer the terminal or add a line", () => {
		const hostile = row("x", {
			usedBy: [pod("c1", "a", { holder: "eve\n\u001b[2Jroot drain 7f3c2a", message: "a\nb" })],
		});
		for (const listsPods of [false, true]) {
			const lines = budgetLines([hostile], {
				isWide: false,
				listsPods,
				headers: true,
				clusters,
				columns: undefined,
				now,
			});
			expect(lines).toHaveLength(listsPods ? 5 : 2);
			expect(lines.join("\n")).not.toContain("\u001b");
		}
	});
});

describe("budgetNotes()", () => {
	const notes = rows.flatMap((each) => budgetNotes(each, clusters, now));

	test("says what nobody should miss: who suspended it, what differs, and why nothing goes", () => {
		expect(notes).toEqual([
			"shop/db differs: c3: maxUnavailable 2, elsewhere maxUnavailable 1: the strictest holds",
			"shop/web is suspended and blocks no eviction: by alice@laptop for 12m00s: storage migration",
			"shop/worker refuses every eviction: it is garbled",
		]);
	});

	test("says so where nobody wrote down who suspended it", () => {
		const byHand = row("web", { suspended: true, members: [{ ...member("c1", "maxUnavailable 1"), suspended: true }] });
		expect(budgetNotes(byHand, ["c1"], now)).toEqual([
			"shop/web is suspended and blocks no eviction: no record of who suspended it",
		]);
	});
});

describe("budgetsDocument()", () => {
	test("is as the schema has it, with each pod, its holder as claimed, and each member's budget", () => {
		const document = budgetsDocument(rows, { problems: [], clusters });
		expect(createValidator(strictSchema("budgets-v1"))(document)).toEqual([]);
		expect(document).toMatchObject({
			items: [
				{ name: "cart", bound: "maxUnavailable 1", usedBy: [] },
				{
					name: "db",
					differs: "c3: maxUnavailable 2, elsewhere maxUnavailable 1: the strictest holds",
					usedBy: [
						{
							cluster: "c1",
							pod: "shop/db-0",
							why: "Reserved",
							state: "Reserved",
							since: "2026-01-01T00:59:57.000Z",
							holder: "bob@desk drain 7f3c2a",
							person: "bob@desk",
							operation: "drain 7f3c2a",
						},
						{ cluster: "c2", state: "Pending", message: scheduler },
						{ cluster: "c3", state: "Terminating", person: "x-pdb" },
					],
				},
				{
					name: "web",
					suspended: true,
					clusters: clusters.map((each) => ({ name: each, suspended: true, suspension })),
				},
				{
					name: "worker",
					clusters: clusters.map((each) => ({ name: each, healthy: null, bound: null, suspended: null })),
				},
			],
		});
	});

	test("leaves out a time that is none", () => {
		const odd = row("db", { usedBy: [pod("c1", "db-0", { sinceSeconds: 1e18 })] });
		expect(JSON.stringify(budgetsDocument([odd], { problems: [], clusters }))).not.toContain('"since"');
	});
});
