import { describe, expect, test } from "vitest";
import { PodHeartbeats } from "../../../agent/views/pod-heartbeats.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { pod } from "./pod-store-setup.ts";

function setUp() {
	const clock = createManualClock();
	const heartbeats = new PodHeartbeats(clock);
	let version = 1;
	let last: PodRecord = pod("db-0", "1");
	/** Changes the pod after this time. By default, only its version changes. */
	const change = (afterMs: number, more: Partial<PodRecord> = {}) => {
		clock.advance(afterMs);
		version += 1;
		const next = { ...last, ...more, resourceVersion: String(version) };
		heartbeats.changed(last, next);
		last = next;
	};
	return { clock, heartbeats, change, everyMs: () => heartbeats.everyMs("uid-db-0") };
}

describe("PodHeartbeats", () => {
	test("knows a pod that keeps changing in its version only, and how often", () => {
		const { change, everyMs } = setUp();
		change(200);
		expect(everyMs()).toBeUndefined();
		change(200);
		expect(everyMs()).toBe(200);
		change(250);
		expect(everyMs()).toBe(250);
	});

	test("counts what only people read as no change", () => {
		const { change, everyMs } = setUp();
		change(200, { status: { state: "Running" } });
		change(200, { status: { state: "CrashLoopBackOff" } });
		expect(everyMs()).toBe(200);
	});

	test("does not mind changes of state, and seldom ones", () => {
		const { change, everyMs } = setUp();
		change(200);
		change(200, { ready: false });
		change(200, { labels: { app: "other" } });
		expect(everyMs()).toBeUndefined();
		change(1_500);
		expect(everyMs()).toBeUndefined();
	});

	test("forgets a pod that has become quiet, is gone, or is new", () => {
		const { clock, heartbeats, change, everyMs } = setUp();
		change(200);
		change(200);
		clock.advance(1_001);
		expect(everyMs()).toBeUndefined();
		change(200);
		change(200);
		heartbeats.forget("uid-db-0");
		expect(everyMs()).toBeUndefined();
		heartbeats.changed(undefined, pod("db-0", "9"));
		expect(everyMs()).toBeUndefined();
	});
});
