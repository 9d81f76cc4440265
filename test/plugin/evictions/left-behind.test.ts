import { expect, test } from "vitest";
import { AgentForbiddenError, AgentUnavailableError } from "../../../disruption/errors.ts";
import { LeftBehind } from "../../../plugin/evictions/left-behind.ts";

const unavailable = (): AgentUnavailableError => new AgentUnavailableError("no answer", "c1");

/** `answers` are the results of the attempts in turn. The last one repeats. */
function setUp(...answers: readonly (Error | undefined)[]) {
	let at = 0;
	let tries = 0;
	const told: unknown[] = [];
	const asleep: PromiseWithResolvers<void>[] = [];
	const leftBehind = new LeftBehind(
		{
			now: () => at,
			async sleep(ms, signal) {
				if (signal.aborted) return;
				const waking = Promise.withResolvers<void>();
				signal.addEventListener("abort", () => waking.resolve(), { once: true });
				asleep.push(waking);
				await waking.promise;
				if (!signal.aborted) at += ms;
			},
		},
		(problem) => void told.push(problem),
	);
	const giveBack = async (): Promise<void> => {
		const answer = answers[Math.min(tries, answers.length - 1)];
		tries += 1;
		if (answer) throw answer;
	};
	const pass = async (): Promise<void> => {
		for (const waking of asleep.splice(0)) waking.resolve();
		await new Promise((resolve) => setImmediate(resolve));
	};
	return { leftBehind, giveBack, told, pass, tries: () => tries };
}

test("is tried again until the agent answers", async () => {
	const { leftBehind, giveBack, told, pass, tries } = setUp(unavailable(), unavailable(), undefined);
	leftBehind.add(unavailable(), giveBack);
	for (let second = 0; second < 10; second += 1) await pass();
	expect(tries()).toBe(3);
	expect(told).toEqual([]);
});

test("is told and left when it has ended by itself", async () => {
	const { leftBehind, giveBack, told, pass, tries } = setUp(unavailable());
	leftBehind.add(unavailable(), giveBack);
	for (let second = 0; second < 60; second += 1) await pass();
	expect(tries()).toBe(35);
	expect(told).toEqual([unavailable()]);
});

test("is told at once where trying again is of no use", async () => {
	const forbidden = new AgentForbiddenError("not allowed");
	const { leftBehind, giveBack, told, pass, tries } = setUp(forbidden);
	leftBehind.add(forbidden, giveBack);
	leftBehind.add(unavailable());
	await pass();
	expect(tries()).toBe(0);
	expect(told).toEqual(expect.arrayContaining([forbidden, unavailable()]));
	leftBehind.add(unavailable(), giveBack);
	await pass();
	expect(tries()).toBe(1);
	expect(told).toHaveLength(3);
});

test("is tried once more, at once, when the run is over", async () => {
	const { leftBehind, giveBack, told, tries } = setUp(unavailable());
	leftBehind.add(unavailable(), giveBack);
	await leftBehind.settled();
	expect(tries()).toBe(1);
	expect(told).toEqual([unavailable()]);
	leftBehind.add(unavailable(), giveBack);
	await leftBehind.settled();
	expect(tries()).toBe(2);
});
