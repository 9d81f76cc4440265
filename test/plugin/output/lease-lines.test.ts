import { describe, expect, test } from "vitest";
import { AppendedRows } from "../../../plugin/output/appended-rows.ts";
import {
	type LeaseColumns,
	type LeaseRow,
	leaseCells,
	leaseHeaders,
	leaseNotes,
	reservationCells,
} from "../../../plugin/output/lease-lines.ts";
import { leasesChange, leasesDocument } from "../../../plugin/output/leases-document.ts";
import { tableLines } from "../../../plugin/output/table.ts";
import { createValidator, strictSchema } from "../../support/json-schema.ts";
import { leases } from "../../support/samples.ts";

/** Four seconds after the first grant. */
const at = 1_795_000_004_000;
const rows: readonly LeaseRow[] = leases.map((lease) => ({ context: "eu", cluster: "europe", at, lease }));
const held = { holder: "alice@laptop drain 7f3c2a", heldForMs: 3_200, expiresInMs: 6_800 };

function withHolding(holding: LeaseRow["lease"]["holding"]): LeaseRow {
	const [row] = rows;
	if (!row) throw new Error("no sample");
	return { ...row, lease: { ...row.lease, holding } };
}

const wide = { isWide: true, hasNamespaces: true };
const narrow = { isWide: false, hasNamespaces: false };

function table(all: readonly LeaseRow[], shown: LeaseColumns): readonly string[] {
	const cells = all.map((row) => leaseCells(row, shown));
	return tableLines(leaseHeaders(shown), cells);
}

describe("the rows of Leases", () => {
	test("say who claims to hold each, for how long, and how many wait", () => {
		expect(table([withHolding(held), ...rows.slice(1)], narrow)).toEqual([
			"BUDGET   CONTEXT   CLAIMED BY     AGE   EXPIRES   WAITING   RESERVED",
			"db       eu        alice@laptop   3s    in 7s     2         7",
			"web      eu        -              -     -         0         0",
			"xpdb-3   eu        unreadable     ?     ?         ?         ?",
		]);
	});

	test("have the namespace too where there may be several", () => {
		expect(table([withHolding(held)], { ...narrow, hasNamespaces: true })).toEqual([
			"NAMESPACE   BUDGET   CONTEXT   CLAIMED BY     AGE   EXPIRES   WAITING   RESERVED",
			"shop        db       eu        alice@laptop   3s    in 7s     2         7",
		]);
	});

	test("have all of it where they are wide: by whose token, in which operation, and the Lease itself", () => {
		const account = "system:serviceaccount:xpdb-system:team-a";
		expect(table([withHolding({ ...held, account }), ...rows.slice(1)], wide)).toEqual([
			"NAMESPACE   BUDGET   CONTEXT   CLAIMED BY     OPERATION      ACCOUNT              AGE   EXPIRES   WAITING   RESERVED   FENCE   LEASE",
			"shop        db       eu        alice@laptop   drain 7f3c2a   xpdb-system/team-a   3s    in 7s     2         7          3       xpdb-1",
			"shop        web      eu        -              -              -                    -     -         0         0          0       xpdb-2",
			"?           xpdb-3   eu        unreadable     ?              ?                    ?     ?         ?         ?          ?       xpdb-3",
		]);
	});

	test("fit 80 columns with the names that clusters have", () => {
		const [row] = [withHolding({ ...held, holder: "jane.doe@laptop drain 7f3c2a" })];
		const budget = { namespace: "payments", name: "checkout" };
		const one = { ...row, context: "prod-eu-1", lease: { ...row.lease, budget } };
		expect(Math.max(...table([one], narrow).map(({ length }) => length))).toBeLessThanOrEqual(80);
	});

	test("have an account that nobody knows as such, and a holding that is over as expired", () => {
		const cells = leaseCells(withHolding({ ...held, expiresInMs: 0 }), wide);
		expect(cells.slice(5, 8)).toEqual(["?", "3s", "expired"]);
		expect(cells.at(-1)).toBe("xpdb-1");
	});

	test("name each pod that was granted, and how many more there are", () => {
		expect(rows.flatMap(reservationCells).map((row) => row.join(" "))).toEqual([
			"shop db eu db-4 Cancelling 4s ago in 26s drain-8a - team-b",
			"shop db eu db-5 Reserved 3s ago in 27s  - ?",
			"shop db eu 5 more",
		]);
	});

	test("say on stderr why one cannot be read", () => {
		expect(rows.flatMap(leaseNotes)).toEqual(["eu: Lease xpdb-3 cannot be read: it is not JSON"]);
	});
});

describe("the documents of Leases", () => {
	const validate = createValidator(strictSchema("leases-v1"));

	test("are as published, the first one and those that follow", () => {
		const document = leasesDocument([withHolding({ ...held, account: "team-a" }), ...rows], ["us: silent"]);
		expect(validate(document)).toEqual([]);
		expect(document).toMatchObject({
			items: [
				{
					context: "eu",
					cluster: "europe",
					budget: "shop/db",
					fence: 3,
					holding: {
						person: "alice@laptop",
						operation: "drain 7f3c2a",
						account: "team-a",
						since: new Date(at - 3_200).toISOString(),
						expires: new Date(at + 6_800).toISOString(),
					},
					waiting: 2,
				},
				{},
				{},
				{ lease: "xpdb-3", problem: "it is not JSON" },
			],
			problems: ["us: silent"],
		});
		const change = leasesChange(rows.slice(0, 1), { gone: rows.slice(1, 2), problems: [], recovered: "eu" });
		expect(validate(change)).toEqual([]);
		expect(change).toMatchObject({
			items: [{ budget: "shop/db" }, { budget: "shop/web", deleted: true }],
			recovered: "eu",
		});
	});
});

describe("AppendedRows", () => {
	test("prints the headers once, with the first row that there is, and keeps the columns", () => {
		const appended = new AppendedRows({ headers: ["NAME", "BY"], columns: () => undefined });
		expect(appended.lines([])).toEqual([]);
		expect(appended.lines([["database", "alice"]])).toEqual(["NAME       BY", "database   alice"]);
		expect(appended.lines([["web", "bob"]])).toEqual(["web        bob"]);
		expect(appended.lines([["much-longer-name", "-"]])).toEqual(["much-longer-name   -"]);
		expect(appended.lines([["web", "-"]])).toEqual(["web                -"]);
	});

	test("prints none where none are wanted", () => {
		expect(new AppendedRows({ columns: () => undefined }).lines([["web", "bob"]])).toEqual(["web   bob"]);
	});

	test("lets the middle of the longest names go where the terminal ends, and has it back on a wider one", () => {
		let columns = 24;
		const appended = new AppendedRows({ headers: ["NAME", "BY"], columns: () => columns });
		expect(appended.lines([["checkout-database", "alice"]])).toEqual([
			"NAME               BY",
			"checkou..atabase   alice",
		]);
		columns = 80;
		expect(appended.lines([["checkout-database", "bob"]])).toEqual(["checkout-database   bob"]);
	});
});
