import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { createPaceReader, estimateRange } from "../../../plugin/plan/pod-pace.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const created = new Date("2026-01-01T00:00:00Z");
const now = Date.parse("2026-01-02T00:00:00Z");
const owner = { kind: "StatefulSet", name: "db" };

/** Returns a pod of StatefulSet db that became ready this many seconds after its creation. */
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

function named(pod: V1Pod): V1Pod {
	return { ...pod, metadata: { ...pod.metadata, name: "db-1", uid: "uid-db-1" } };
}

describe("createPaceReader()", () => {
	const options = { now, gracePeriodSeconds: -1 };
	const assumed = { atLeast: 1, atMost: 120 };
	const rows = [
		{ name: "takes the start that was seen, with a margin", pods: [started(5)], start: { atLeast: 4, atMost: 20 } },
		{
			name: "takes the fastest and the slowest of a template",
			pods: [started(5), named(started(12))],
			start: { atLeast: 4, atMost: 34 },
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

	test("expects a pod to end soon after its preStop hook, and never after its grace period", () => {
		const sleeping = (preStop: object, grace: number): V1Pod => {
			const pod = started(1, { grace });
			return { ...pod, spec: { ...pod.spec, containers: [{ name: "db", lifecycle: { preStop } }] } };
		};
		const gone = (pod: V1Pod) => {
			const { atLeast, likely, atMost } = createPaceReader([], options)(pod);
			return [atLeast.goneAfter, likely.goneAfter, atMost.goneAfter];
		};
		expect(gone(started(1))).toEqual([0, 2.5, 33]);
		expect(gone(sleeping({ sleep: { seconds: 10 } }, 30))).toEqual([10, 12.5, 33]);
		expect(gone(sleeping({ exec: { command: ["sh", "-c", "sleep 15 && true"] } }, 60))).toEqual([15, 17.5, 63]);
		expect(gone(sleeping({ sleep: { seconds: 60 } }, 30))).toEqual([30, 32.5, 33]);
		expect(gone(sleeping({ exec: { command: ["/stop"] } }, 0))).toEqual([0, 2.5, 3]);
	});

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

describe("estimateRange()", () => {
	const rows = [
		{ of: [0, 0, 0.4], expected: [0, 0] },
		{ of: [3.2, 6, 11], expected: [3, 12] },
		{ of: [61, 61, 61], expected: [60, 75] },
		{ of: [3_000, 3_300, 3_601], expected: [2_700, 5_400] },
		{ of: [9_000, 9_000, 9_001], expected: [9_000, 10_800] },
		{ of: [0, 20, 600], expected: [10, 40] },
		{ of: [0, 7, 600], expected: [3, 12] },
		{ of: [0, 0.8, 33], expected: [0, 2] },
	] as const;
	for (const { of, expected } of rows) {
		test(`of at least ${of[0]}, probably ${of[1]}, at most ${of[2]} is ${expected.join(" to ")}`, () => {
			const [least, likely, most] = of;
			const { atLeast, atMost } = estimateRange({ atLeast: least, likely, atMost: most });
			expect([atLeast, atMost]).toEqual(expected);
		});
	}

	test("is never wider than four times its lower end, from a second on", () => {
		for (let likely = 1; likely < 20_000; likely *= 1.07) {
			const { atLeast, atMost } = estimateRange({ atLeast: 0, likely, atMost: 1e6 });
			expect(atLeast).toBeGreaterThan(0);
			expect(atMost).toBeLessThanOrEqual(4 * atLeast);
			expect(atLeast).toBeLessThanOrEqual(likely);
			expect(atMost).toBeGreaterThanOrEqual(likely);
		}
	});
});
