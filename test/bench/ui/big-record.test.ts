import { expect, test } from "vitest";
import { readRecord } from "../../../plugin/picture/read-record.ts";
import { bigRecord } from "./big-record.ts";

test("the record of many pods is a whole one: every pod of every node goes, and every fifth one waits", async () => {
	const { summary, lanes, budgets } = await readRecord(
		ReadableStream.from([Buffer.from(bigRecord(250))]),
		"run.ndjson",
	);
	const pods = lanes.flatMap((lane) => lane.pods);
	expect(summary?.evicted).toBe(250);
	expect(lanes.map(({ pods, end }) => [pods.length, end?.kind])).toEqual([
		[100, "drained"],
		[100, "drained"],
		[50, "drained"],
	]);
	expect(pods.filter(({ end }) => end?.kind === "evicted")).toHaveLength(250);
	expect(pods.filter(({ spans }) => spans.some(({ reason }) => reason === "BudgetExhausted"))).toHaveLength(50);
	expect(budgets).toHaveLength(20);
});
