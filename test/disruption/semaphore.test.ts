import { expect, test } from "vitest";
import { Semaphore } from "../../disruption/round/semaphore.ts";

test("take() resolves with false for a caller that has already left, whether a place is free or not", async () => {
	const semaphore = new Semaphore(1);
	expect(await semaphore.take(AbortSignal.abort())).toBe(false);
	expect(await semaphore.take()).toBe(true);
	expect(await semaphore.take(AbortSignal.abort())).toBe(false);
	semaphore.release();
	expect(await semaphore.take()).toBe(true);
});

test("take() passes the place on that a caller got as it left", async () => {
	const semaphore = new Semaphore(1);
	await semaphore.take();
	const leaving = new AbortController();
	const left = semaphore.take(leaving.signal);
	const next = semaphore.take();
	leaving.abort();
	semaphore.release();
	expect(await left).toBe(false);
	expect(await next).toBe(true);
});
