import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { createPaceReader, roundRange } from "../../../plugin/plan/pod-pace.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const created = new Date("2026-01-01T00:00:00Z");
const now = Date.parse("2026-01-02T00:00:00Z");
const owner = { kind: "StatefulSet", name: "db" };

/** A pod of StatefulSet db that was ready so many seconds after it was made. */
function started(
	seconds: number | undefined,
	{ grace, restarts = 0 }: { readonly grace?: number; readonly restarts?: number } = {},
): V1Pod {
	const pod = newV1Pod("db-0", { owner });
	const at = new Date(created.getTime() + (seconds ?? 0) * 1_000);
	return {
		...pod,
		metadata: { ...pod.metadata, creationTimestamp: created },
		spec: { containers: [], ...(grace !== undefined && { terminationGracePeriodSeconds: grace }) },
		status: {
			conditions: [{ type: "Ready", status: seconds === undefined ? "False" : "True", lastTransitionTime: at }],
			containerStatuses: [{ name: "db", image: "", imageID: "", ready: true, restartCount: restarts }],
		},
	};
}

describe("createPaceReader()", () => {
	const options = { now, gracePeriodSeconds: -1 };
	const assumed = { atLeast: 1, atMost: 120 };
	const rows = [
		{ name: "takes the start that was seen, with a margin", pods: [started(5)], start: { atLeast: 4, atMost: 20 } },
		{
			name: "takes the fastest and the slowest of a controller",
			pods: [started(5), started(40)],
			start: { atLeast: 4, atMost: 90 },
		},
		{ name: "assumes the start of pods that are not ready", pods: [started(undefined)], start: assumed },
		{ name: "does not measure by pods that have started again", pods: [started(5, { restarts: 1 })], start: assumed },
		{ name: "does not believe a start of days", pods: [started(200_000)], start: assumed },
	];
	for (const { name, pods, start } of rows) {
		test(name, () => {
			const { atLeast, atMost, measured } = createPaceReader(pods, options)(started(undefined));
			expect({ atLeast: atLeast.backAfter, atMost: atMost.backAfter }).toEqual(start);
			expect(measured).toBe(start !== assumed);
		});
	}

	test("ends a pod at once or after all of its grace period", () => {
		const { atLeast, atMost } = createPaceReader([], options)(started(1, { grace: 60 }));
		expect([atLeast.goneAfter, atMost.goneAfter]).toEqual([0, 63]);
		expect(createPaceReader([], options)(started(1)).atMost.goneAfter).toBe(33);
		expect(createPaceReader([], { now, gracePeriodSeconds: 5 })(started(1)).atMost.goneAfter).toBe(8);
	});

	test("ends a terminating pod at its deadline, and one that is over it at once", () => {
		const pace = (deletedAt: string) => createPaceReader([], options)(newV1Pod("x", { deletedAt })).atMost.goneAfter;
		expect(pace("2026-01-02T00:00:20Z")).toBe(23);
		expect(pace("2026-01-01T23:00:00Z")).toBe(3);
	});

	test("waits for no replacement of a pod that nobody controls", () => {
		expect(createPaceReader([], options)(newV1Pod("bare"))).toMatchObject({
			atMost: { backAfter: 0 },
			measured: true,
		});
	});
});

describe("roundRange()", () => {
	const rows = [
		{ range: [0, 0.4], expected: [0, 1] },
		{ range: [3.2, 11], expected: [2, 15] },
		{ range: [61, 61], expected: [60, 90] },
		{ range: [3_000, 3_601], expected: [2_700, 5_400] },
		{ range: [9_000, 9_001], expected: [9_000, 10_800] },
	] as const;
	for (const { range, expected } of rows) {
		test(`${range.join(" to ")} is ${expected.join(" to ")}`, () => {
			const [least, most] = range;
			const { atLeast, atMost } = roundRange(least, most);
			expect([atLeast, atMost]).toEqual(expected);
		});
	}
});
