import { expect, test } from "vitest";
import { untilStopped } from "../../../plugin/check/until-stopped.ts";

async function* rowsThen(next: Promise<string>): AsyncGenerator<string> {
	yield "first";
	yield await next;
}

const never = new Promise<string>(() => undefined);

test("untilStopped() gives all rows where nobody stops", async () => {
	const rows: string[] = [];
	for await (const row of untilStopped(rowsThen(Promise.resolve("last")), new AbortController().signal)) rows.push(row);
	expect(rows).toEqual(["first", "last"]);
});

test("untilStopped() waits for nobody once it is stopped", async () => {
	const stop = new AbortController();
	const rows: string[] = [];
	const reading = (async () => {
		for await (const row of untilStopped(rowsThen(never), stop.signal)) {
			rows.push(row);
			queueMicrotask(() => stop.abort(new Error("interrupted")));
		}
	})();
	await expect(reading).rejects.toThrow("interrupted");
	expect(rows).toEqual(["first"]);
});

test("untilStopped() passes on what a row fails with", async () => {
	const failing = untilStopped(rowsThen(Promise.reject(new Error("a bug"))), new AbortController().signal);
	await failing.next();
	await expect(failing.next()).rejects.toThrow("a bug");
});
