import { expect, test } from "vitest";
import { readRecord } from "../../../plugin/picture/read-record.ts";
import type { RunPicture } from "../../../plugin/picture/run-picture.ts";
import { drainRecord, recordLines } from "./recorded-run.ts";

const begin = Date.parse("2026-01-01T12:00:00Z");
const second = (at: number): number => (at - begin) / 1_000;

async function pictureOf(lines: readonly string[], cutOff = ""): Promise<RunPicture> {
	const text = Buffer.from(`${lines.join("\n")}\n${cutOff}`);
	// Chunks of seven bytes, which end anywhere in a line.
	const chunks = Array.from({ length: Math.ceil(text.length / 7) }, (_, index) =>
		text.subarray(index * 7, index * 7 + 7),
	);
	return readRecord(ReadableStream.from(chunks), "run.ndjson");
}

test("each pod has its waits and its end, in the lane of its node", async () => {
	const { lanes } = await pictureOf(drainRecord);
	expect(lanes.map(({ context, node, end }) => [context, node, end?.kind])).toEqual([
		["eu", "n1", "drained"],
		["us", "n4", "failed"],
	]);
	const spans = lanes.flatMap(({ pods }) =>
		pods.map(({ pod, spans: each, end }) => [
			pod,
			...each.map(({ kind, from, to, reason }) => `${kind} ${second(from)}-${second(to)} ${reason}`.trim()),
			`${end?.kind} ${second(end?.at ?? 0)}`,
		]),
	);
	expect(spans).toEqual([
		["shop/db-0", "waiting 1-2", "waiting 2-3", "terminating 3-13", "evicted 13"],
		["shop/db-1", "waiting 4-64 BudgetExhausted", "terminating 64-66", "failed 66"],
	]);
});

test("a wait says who used the budget up", async () => {
	const { lanes } = await pictureOf(drainRecord);
	expect(lanes[1]?.pods[0]?.spans[0]?.text).toBe(
		"pod shop/db-1 waits for <budget> shop/db; used by shop/db-0 in eu (Terminating by alice@laptop drain)",
	);
});

const pointsOf = async (lines: readonly string[]) =>
	(await pictureOf(lines)).budgets[0]?.points.map(({ at, healthy }) => [second(at), healthy]);

test("a budget has a point for each count that differs and for each eviction of the run", async () => {
	const { budgets } = await pictureOf(drainRecord);
	expect(budgets).toHaveLength(1);
	expect(budgets[0]?.points.map(({ at, healthy, need }) => [second(at), healthy, need])).toEqual([
		[2, 3, 2],
		[2, 2, 2],
		[4, 2, 2],
		[64, 3, 2],
		[64, 2, 2],
		// No data for the last three seconds.
		[64, undefined, undefined],
	]);
	expect(budgets[0]?.evictions.map(second)).toEqual([2, 64]);
});

/** With `own`, the count comes from the run's watch. */
const counted = (healthy: number, own?: number) => ({
	type: "budget.changed",
	budget: "shop/db",
	healthy,
	need: 2,
	expected: 3,
	...(own !== undefined && { usedBy: [{}, ...Array.from({ length: own }, () => ({ own: true }))] }),
});
const pod = (name: string) => ({ context: "eu", pod: `shop/${name}`, uid: name });
const evicting = (name: string) => ({ type: "pod.evicting", ...pod(name), budgets: ["shop/db"] });
const record = (...events: readonly (readonly [number, object])[]) =>
	recordLines([
		[1, { type: "version", schema: "xpdb.events/1.0", command: "evict", by: "alice@laptop" }],
		...events,
		[9, { type: "summary", result: "done" }],
	]);

const curves: readonly (readonly [name: string, events: readonly (readonly [number, object])[], expected: unknown])[] =
	[
		[
			"ends where nobody counted after the last eviction, at the number that this left",
			[
				[2, counted(3)],
				[2, evicting("a")],
			],
			[
				[2, 3],
				[2, 2],
				[2, undefined],
			],
		],
		[
			"is drawn through where the agents' watch counts at once",
			[
				[2, counted(3)],
				[2, evicting("a")],
				[3, counted(2, 1)],
				[8, counted(3, 0)],
			],
			[
				[2, 3],
				[2, 2],
				[3, 2],
				[8, 3],
			],
		],
		[
			"takes no pod off twice: the count that had it off came before its eviction was told",
			[
				[2, counted(3)],
				[2, evicting("a")],
				[3, counted(1, 2)],
				[4, evicting("b")],
			],
			[
				[2, 3],
				[2, 2],
				[3, 1],
			],
		],
		[
			"takes none off for the next try, and gives back one that came to nothing",
			[
				[2, counted(3)],
				[2, evicting("a")],
				[3, evicting("a")],
				[4, { type: "pod.retrying", ...pod("a") }],
			],
			[
				[2, 3],
				[2, 2],
				[4, 3],
				[4, undefined],
			],
		],
		[
			"keeps a pod off whose end was not seen",
			[
				[2, counted(3)],
				[2, evicting("a")],
				[3, { type: "pod.failed", ...pod("a"), accepted: true }],
			],
			[
				[2, 3],
				[2, 2],
				[2, undefined],
			],
		],
		[
			"is not drawn while nobody knows",
			[
				[2, counted(3)],
				[4, { type: "budget.unknown", budget: "shop/db", message: "us: no answer" }],
				[7, counted(3)],
			],
			[
				[2, 3],
				[4, undefined],
				[7, 3],
			],
		],
		[
			"of a dry run stays where it is",
			[
				[2, counted(3)],
				[3, { ...evicting("a"), dryRun: "server" }],
			],
			[[2, 3]],
		],
	];
for (const [name, events, expected] of curves) {
	test(`a budget's line ${name}`, async () => expect(await pointsOf(record(...events))).toEqual(expected));
}

test("says who ran it", async () => {
	expect((await pictureOf(record([2, counted(3)]))).by).toBe("alice@laptop");
});

test("a budget that lacks pods at the end is a warning", async () => {
	const message = "not recovered: shop/pin 2/3, shop/pin-0 in eu: Pending 2m";
	const { notes } = await pictureOf(record([8, { type: "budget.notRecovered", budget: "shop/pin", message }]));
	expect(notes).toMatchObject([{ level: "warning", text: message }]);
});

test("outages are notes, and the summary has the numbers", async () => {
	const { notes, summary } = await pictureOf(drainRecord);
	expect(notes.map(({ level, where, text }) => `${level} ${where} ${text}`)).toEqual([
		"error us gives no answer: no answer",
		"info us answers again",
		"warning  1 of the nodes not drained",
	]);
	expect(summary).toMatchObject({ result: "failed", exitCode: 1, evicted: 1, failed: 1, longestWaitMs: 60_000 });
});

test("a record that was cut off ends where it ends: no summary, and what was open is open until then", async () => {
	const { summary, lanes } = await pictureOf(drainRecord.slice(0, 9), '{"type":"pod.evi');
	expect(summary).toBeUndefined();
	expect(lanes[0]?.pods[0]?.end?.kind).toBe("accepted");
});

test("a clock that is set back does not turn the picture around", async () => {
	const lines = recordLines([
		[5, { type: "version", schema: "xpdb.events/1.0", command: "evict" }],
		[6, { type: "pod.evicting", context: "eu", pod: "a/b", budgets: [] }],
		[2, { type: "pod.accepted", context: "eu", pod: "a/b", waitedMs: 10 }],
		[8, { type: "pod.evicted", context: "eu", pod: "a/b" }],
	]);
	const { from, to, lanes } = await pictureOf(lines);
	expect([second(from), second(to)]).toEqual([5, 8]);
	expect(lanes[0]?.pods[0]?.spans.every((span) => span.from < span.to)).toBe(true);
});

test("events and fields of a newer minor version are passed over", async () => {
	const lines = recordLines([
		[0, { type: "version", schema: "xpdb.events/1.7", command: "evict", agents: 7 }],
		[1, { type: "pod.dreamt", context: "eu", pod: "a/b" }],
		[1, { type: "moon.full", message: [1] }],
	]);
	expect(await pictureOf(lines)).toMatchObject({ command: "evict", budgets: [], notes: [] });
});
