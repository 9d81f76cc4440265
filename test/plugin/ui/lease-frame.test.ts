import { describe, expect, test } from "vitest";
import type { LeaseRow } from "../../../plugin/output/lease-lines.ts";
import { asciiGlyphs } from "../../../plugin/ui/glyphs.ts";
import { LeaseBoard } from "../../../plugin/ui/lease-board.ts";
import { leaseFrame } from "../../../plugin/ui/lease-frame.ts";
import { firstLeaseView, type LeaseView, pressLeaseKey } from "../../../plugin/ui/lease-view.ts";
import type { KeyPress } from "../../../plugin/ui/steering-keys.ts";
import { lineText, widthOf } from "../../../plugin/ui/styled-line.ts";
import type { ListedLease } from "../../../proto/listed-lease.ts";

const now = Date.parse("2026-01-01T00:02:00.000Z");
const holder = "alice@laptop drain 7f3c2a";

function row(name: string, lease: Partial<ListedLease> = {}, context = "eu"): LeaseRow {
	const budget = { namespace: "shop", name };
	const empty = { transitions: 4, holding: undefined, waiting: 0, reservations: [], reserved: 0 };
	return {
		context,
		cluster: context,
		at: now,
		lease: { name: `xpdb-${name}`, budget, uid: `${context}-${name}`, ...empty, ...lease },
	};
}

const held = { holder, heldForMs: 12_000, expiresInMs: 8_000 };
const reservation = {
	pod: "db-0",
	uid: "u",
	holder,
	sinceSeconds: now / 1_000 - 3,
	untilSeconds: now / 1_000 + 57,
	cancelling: false,
};
const rows = [
	row("idle"),
	row("granted", { reserved: 1, reservations: [reservation] }),
	row("held", { holding: held }),
	row("crowd", { holding: held, waiting: 3 }, "us"),
	row("broken", { problem: "no JSON" }),
];

function boardOf(of: readonly LeaseRow[]): LeaseBoard {
	const board = new LeaseBoard();
	board.see({ changed: of, gone: [] }, now);
	return board;
}

function frame(
	columns: number,
	lines: number,
	{ board = boardOf(rows), view = {}, at = now }: { board?: LeaseBoard; view?: Partial<LeaseView>; at?: number } = {},
) {
	const options = { columns, rows: lines, glyphs: asciiGlyphs, now: at, contexts: ["eu", "us"] };
	return leaseFrame(board, { ...firstLeaseView, ...view }, options).map((line) => lineText(line).trimEnd());
}

describe("leaseFrame()", () => {
	test("has the busiest first, with who waits, who holds them and for how long", () => {
		const drawn = frame(100, 20, { at: now + 60_000 });
		expect(drawn.slice(1, 7)).toEqual([
			"  BUDGET       CONTEXT  WAITING  RESERVED  FOR     HELD BY",
			"  shop/broken  eu       ?        ?         ?       unreadable: no JSON",
			`  shop/crowd   us       3        0         1m12s   ${holder}`,
			`  shop/held    eu       0        0         1m12s   ${holder}`,
			"  shop/granted eu       0        1         -       -",
			"  shop/idle    eu       0        0         -       -",
		]);
		expect(drawn[0]).toMatch(/^ xpdb leases -w {2}5 Leases: 2 held, 3 waiting, 1 unreadable/);
	});

	test("keeps the order for five seconds, and forgets what is gone", () => {
		const board = boardOf([row("a"), row("b")]);
		expect(board.keys(now)).toEqual(["eu eu-a", "eu eu-b"]);
		board.see({ changed: [row("b", { waiting: 2 }), row("c")], gone: [] }, now + 1_000);
		expect(board.keys(now + 4_000)).toEqual(["eu eu-a", "eu eu-b", "eu eu-c"]);
		expect(board.keys(now + 5_000)).toEqual(["eu eu-b", "eu eu-a", "eu eu-c"]);
		board.see({ changed: [], gone: [row("a")] }, now + 5_000);
		expect(board.keys(now + 5_000)).toEqual(["eu eu-b", "eu eu-c"]);
	});

	test("shows who holds one, and the pods that were granted", () => {
		const page = frame(100, 30, { view: { selected: "eu eu-granted", pane: "details" } }).join("\n");
		expect(page).toContain("Lease xpdb-granted, fence 4");
		expect(page).toContain("1 pod granted and not seen going yet");
		expect(page).toMatch(/db-0 +Reserved +3s ago +in \d+s +alice@laptop +drain 7f3c2a/);
		const crowd = frame(100, 30, { view: { selected: "us us-crowd", pane: "details" } }).join("\n");
		expect(crowd).toContain("held by alice@laptop, drain 7f3c2a");
	});

	test("says why a context gives no answer, and what there is before one came", () => {
		const board = new LeaseBoard();
		expect(frame(80, 24, { board }).join("\n")).toContain("asking the agents ...");
		board.see({ changed: [], gone: [] }, now);
		expect(frame(80, 24, { board }).join("\n")).toContain("no Leases: these budgets were never asked for");
		board.see({ changed: [], gone: [], problem: "us: no answer" }, now);
		expect(frame(80, 24, { board }).join("\n")).toContain("error: us: no answer");
	});

	for (const [columns, lines] of [
		[60, 15],
		[80, 24],
		[140, 40],
	] as const) {
		test(`fits ${columns}x${lines}, names every key and says how many rows are out of sight`, () => {
			const many = Array.from({ length: 60 }, (_, at) => row(`a-budget-with-a-long-name-${at}`));
			for (const view of [
				{},
				{ pane: "help" },
				{ pane: "details", selected: "eu eu-a-budget-with-a-long-name-7" },
			] as const) {
				const drawn = frame(columns, lines, { board: boardOf(many), view });
				expect(drawn).toHaveLength(lines - 1);
				expect(drawn.filter((line) => widthOf(line) > columns)).toEqual([]);
				for (const key of [/up\/d/, /\bq\b/, /\? help$/]) expect(drawn.at(-1)).toMatch(key);
				const shown = drawn.filter((line) => /^[ >] shop/.test(line)).map((line) => line.slice(2).split(" ")[0]);
				expect(new Set(shown).size).toBe(shown.length);
				expect(/ \+ \d+ (?:above|more row)/.test(drawn.join("\n"))).toBe(!("pane" in view) || view.pane === "details");
			}
		});
	}
});

describe("pressLeaseKey()", () => {
	const key = (name: string): KeyPress => {
		const names = ["up", "down", "enter", "escape", "pageDown"] as const;
		const found = names.find((each) => each === name);
		return found ? { input: "", name: found, ctrl: false } : { input: name, name: "", ctrl: false };
	};
	const press = (...keys: readonly string[]) =>
		keys.reduce((view, name) => pressLeaseKey(view, key(name), ["a", "b"], 10).view, firstLeaseView);

	test("selects, opens, reads on and closes", () => {
		expect(press("down", "down", "down").selected).toBe("b");
		expect(press("enter")).toMatchObject({ selected: "a", pane: "details" });
		expect(press("enter", "down")).toMatchObject({ selected: "b", pane: "details" });
		expect(press("enter", "pageDown")).toMatchObject({ selected: "a", scroll: 10 });
		expect(press("enter", "escape").pane).toBeUndefined();
		expect(press("?", "h").pane).toBeUndefined();
	});

	test("leaves at q, and is interrupted at Ctrl-C", () => {
		expect(pressLeaseKey(firstLeaseView, key("q"), [], 10).action).toBe("leave");
		expect(pressLeaseKey(firstLeaseView, { input: "c", name: "", ctrl: true }, [], 10).action).toBe("interrupt");
	});
});
