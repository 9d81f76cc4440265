import { describe, expect, test } from "vitest";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { NodeHold } from "../../../plugin/nodes/node-hold.ts";
import type { Operation, OperationReading } from "../../../plugin/nodes/operation.ts";

const holder = "00112233445566aa";
const old: Operation = {
	id: "7f3c2a",
	state: "draining",
	by: "alice@laptop",
	since: "2026-01-01T00:00:00.000Z",
	nodes: 1,
	fleet: "",
	flags: {},
	typedAgain: [],
	cordonedBefore: false,
};
const operation: Operation = { ...old, holder };
const held: OperationReading = { kind: "operation", operation };
const other: OperationReading = { kind: "operation", operation: { ...operation, holder: "b0b0b0b0b0b0b0b0" } };
const never = new AbortController().signal;

/** Returns a hold of a node whose API server gives these answers in turn. The last one repeats. */
function newHold(...answers: readonly (OperationReading | Error | undefined)[]) {
	const clock = { ms: 0 };
	let reads = 0;
	const hold = new NodeHold(
		{ name: "n1" },
		{
			holder,
			async read() {
				const answer = answers[Math.min(reads, answers.length - 1)];
				reads += 1;
				if (answer instanceof Error) throw answer;
				return answer;
			},
			now: () => clock.ms,
			sleep: async (ms) => void (clock.ms += ms),
		},
	);
	return { hold, clock, reads: () => reads };
}

describe("NodeHold", () => {
	test("asks again when its answer is older than two seconds, and once for pods that ask together", async () => {
		const { hold, clock, reads } = newHold(held);
		await Promise.all([hold.confirm(never), hold.confirm(never)]);
		expect(reads()).toBe(1);
		clock.ms += 2_000;
		await hold.confirm(never);
		expect(reads()).toBe(1);
		// The machine slept for a night.
		clock.ms += 8 * 3_600_000;
		await hold.confirm(never);
		expect(reads()).toBe(2);
		expect(hold.lost.aborted).toBe(false);
	});

	const rows: readonly {
		readonly name: string;
		readonly found: OperationReading | Error | undefined;
		readonly why: RegExp;
	}[] = [
		{
			name: "another holder of the same operation",
			found: other,
			why: /was taken over by alice@laptop, operation 7f3c2a/,
		},
		{
			name: "another operation",
			found: {
				kind: "operation",
				operation: { ...operation, id: "b0b0b0", by: "bob@host", holder: "b0b0b0b0b0b0b0b0" },
			},
			why: /was taken over by bob@host, operation b0b0b0/,
		},
		{
			name: "an operation of version 0.1",
			found: { kind: "operation", operation: old },
			why: /was taken over/,
		},
		{
			name: "an operation of a later version",
			found: { kind: "later", version: 3 },
			why: /does not belong to this run/,
		},
		{ name: "a garbled annotation", found: { kind: "garbled" }, why: /does not belong to this run/ },
		{ name: "no annotation", found: undefined, why: /does not belong to this run any more/ },
		{
			name: "a right that is gone",
			found: new ApiError("nodes is forbidden", { code: 403 }),
			why: /is not known: nodes is forbidden/,
		},
	];
	for (const { name, found, why } of rows) {
		test(`is lost for good where the node has ${name}`, async () => {
			const { hold, clock } = newHold(found, held);
			await hold.confirm(never);
			expect(hold.lost.aborted).toBe(true);
			expect(hold.why).toMatch(why);
			clock.ms += 60_000;
			await hold.confirm(never);
			expect(hold.lost.aborted).toBe(true);
		});
	}

	test("waits for an API server without an answer, and does not call that a yes", async () => {
		const silent = new ConnectionError("https://eu", new Error("connect ETIMEDOUT"));
		const { hold, clock, reads } = newHold(silent, new ApiError("busy", { code: 503 }), other);
		await hold.confirm(never);
		expect({ lost: hold.lost.aborted, reads: reads(), ms: clock.ms }).toEqual({ lost: true, reads: 3, ms: 2_000 });
		const ended = newHold(silent);
		const ends = new AbortController();
		const waiting = ended.hold.confirm(ends.signal);
		ends.abort();
		await waiting;
		expect(ended.hold.lost.aborted).toBe(false);
	});

	test("takes the answer of a slow API server, and does not ask for ever", async () => {
		const clock = { ms: 0 };
		let reads = 0;
		const ends = new AbortController();
		const hold = new NodeHold(
			{ name: "n1" },
			{
				holder,
				async read() {
					reads += 1;
					if (reads > 10) ends.abort();
					clock.ms += 2_500;
					return held;
				},
				now: () => clock.ms,
				sleep: async (ms) => void (clock.ms += ms),
			},
		);
		await hold.confirm(ends.signal);
		expect({ reads, lost: hold.lost.aborted }).toEqual({ reads: 1, lost: false });
	});

	test("does not wait for an answer when the run is over", async () => {
		const ends = new AbortController();
		const read = (): Promise<never> => new Promise(() => undefined);
		const hold = new NodeHold({ name: "n1" }, { holder, read, now: () => 0, sleep: async () => undefined });
		const waiting = hold.confirm(ends.signal);
		ends.abort();
		await waiting;
		expect(hold.lost.aborted).toBe(false);
	});

	test("stands where the node itself is gone: its pods go with it", async () => {
		const { hold } = newHold(new ApiError("not found", { code: 404 }));
		await hold.confirm(never);
		expect(hold.lost.aborted).toBe(false);
	});

	test("notices a loss while a run only waits", async () => {
		const { hold, clock } = newHold(held, held, other);
		await hold.watch(never);
		expect(hold.lost.aborted).toBe(true);
		expect(clock.ms).toBeLessThanOrEqual(30_000);
	});
});
