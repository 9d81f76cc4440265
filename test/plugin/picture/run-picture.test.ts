import { expect, test } from "vitest";
import { readRecord } from "../../../plugin/picture/read-record.ts";
import type { RunPicture } from "../../../plugin/picture/run-picture.ts";
import { drainRecord, recordLines } from "./recorded-run.ts";

const begin = Date.parse("2026-01-01T12:00:00Z");
const second = (at: number): number => (at - begin) / 1_000;

async function pictureOf(lines: readonly string[], cutOff = ""): Promise<RunPicture> {
	const text = Buffer.from(`${lines.join("\n")}\n${cutOff}`);
	// In pieces that end anywhere.
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

test("a budget has a point for each count that differs, and a mark for each eviction", async () => {
	const { budgets } = await pictureOf(drainRecord);
	expect(budgets).toHaveLength(1);
	expect(budgets[0]?.points.map(({ at, healthy, need }) => [second(at), healthy, need])).toEqual([
		[2, 3, 2],
		[4, 2, 2],
		[64, 3, 2],
	]);
	expect(budgets[0]?.evictions.map(second)).toEqual([2, 64]);
});

test("a budget's line ends with the first eviction after which nobody counted it, and goes on where somebody did", async () => {
	const [budget] = (await pictureOf(drainRecord)).budgets;
	expect(second(budget?.to ?? 0)).toBe(64);
	const counted = (healthy: number) => ({ type: "budget.changed", budget: "shop/db", healthy, need: 2, expected: 3 });
	const evicting = { type: "pod.evicting", context: "eu", pod: "shop/db-0", budgets: ["shop/db"] };
	const version = { type: "version", schema: "xpdb.events/1.0", command: "evict" };
	const record = (...rest: readonly [number, object][]) =>
		recordLines([
			[1, version],
			[2, counted(3)],
			[2, evicting],
			[3, evicting],
			...rest,
			[9, { type: "summary", result: "done" }],
		]);
	const endOf = async (lines: readonly string[]) => second((await pictureOf(lines)).budgets[0]?.to ?? 0);
	expect(await endOf(record())).toBe(2);
	// That nothing has changed is a count too.
	expect(await endOf(record([5, counted(3)]))).toBe(9);
	expect(await endOf(record([5, counted(3)], [7, evicting]))).toBe(7);
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
