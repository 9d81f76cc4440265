import { expect, test } from "vitest";
import { CallerDeadlines } from "../../../agent/server/caller-deadlines.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function setUp(deadlineMs: number, withinMs?: number) {
	const clock = createManualClock();
	const api = { silentMs: 0 };
	const told: string[] = [];
	const deadlines = new CallerDeadlines({ api, clock, cluster: "eu", wallClock: () => clock.now() });
	const call = { name: "Renew", call: { getDeadline: () => deadlineMs }, ...(withinMs !== undefined && { withinMs }) };
	const stop = deadlines.watch(call, (error) => told.push(`${error.silent}: ${error.message}`));
	return { api, clock, told, stop };
}

const silence = ['apiServer: cluster "eu": the API server has not answered for 3.0 s (call Renew)'];

test("a caller hears of a silent API server half a second before it would give up", () => {
	const { api, clock, told } = setUp(5_000);
	api.silentMs = 3_000;
	clock.advance(4_499);
	expect(told).toEqual([]);
	clock.advance(1);
	expect(told).toEqual(silence);
});

test("a caller that gives up before its deadline hears of it in time too", () => {
	const { api, clock, told } = setUp(20_000, 3_500);
	api.silentMs = 3_000;
	clock.advance(3_500);
	expect(told).toEqual(silence);
});

test("an API server that is slow by a second is not blamed", () => {
	const { api, clock, told } = setUp(5_000);
	api.silentMs = 1_000;
	clock.advance(10_000);
	expect(told).toEqual([]);
});

test("an answered call is told nothing more", () => {
	const { api, clock, told, stop } = setUp(5_000);
	api.silentMs = 3_000;
	stop();
	clock.advance(10_000);
	expect(told).toEqual([]);
});

test("a call without a deadline has nothing to be told before", () => {
	const { api, clock, told } = setUp(Number.POSITIVE_INFINITY);
	api.silentMs = 3_000;
	clock.advance(60_000);
	expect(told).toEqual([]);
});
