import { describe, expect, test } from "vitest";
import type { TouchAnswer } from "../../../agent/cluster-api/cluster-api.ts";
import { PodStore } from "../../../agent/views/pod-view.ts";
import { ViewMarker } from "../../../agent/views/view-marker.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { newPod } from "../../support/build-pod.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { isSettled, settle } from "./pod-store-setup.ts";

const ownPod = { namespace: "xpdb-system", name: "xpdb-agent-a" };

/** Creates a marker for a live view at version 10. The test answers each touch. */
function setUp() {
	const clock = createManualClock();
	const pods = new PodStore({ clock });
	const own = newPod(ownPod.name, { namespace: ownPod.namespace, resourceVersion: "7" });
	pods.replace([own], "10");
	pods.signOfLife(clock.now());
	const touches: (PromiseWithResolvers<TouchAnswer> & { readonly value: string; readonly uid: string })[] = [];
	const problems: unknown[] = [];
	const marker = new ViewMarker({
		api: {
			touchPod: ({ uid }, value) => {
				const touch = Promise.withResolvers<TouchAnswer>();
				touches.push({ ...touch, value, uid });
				return touch.promise;
			},
		},
		pods,
		ownPod,
		clock,
		cluster: "eu-1",
		report: (problem) => void problems.push(problem),
	});
	return { clock, pods, own, marker, touches, problems };
}

const touched = (resourceVersion: string) => ({ kind: "touched", resourceVersion }) as const;

describe("ViewMarker.mark()", () => {
	test("resolves with the version that the touch of the agent's own pod made", async () => {
		const { marker, touches, own } = setUp();
		const marked = marker.mark();
		await settle();
		expect(touches).toMatchObject([{ uid: own.uid }]);
		touches[0]?.resolve(touched("12"));
		expect(await marked).toBe("12");
	});

	test("sends a touch after the call, and never joins one under way", async () => {
		const { marker, touches } = setUp();
		const first = marker.mark();
		await settle();
		const [second, third] = [marker.mark(), marker.mark()];
		await settle();
		expect(touches).toHaveLength(1);
		touches[0]?.resolve(touched("12"));
		expect(await first).toBe("12");
		expect(await isSettled(second)).toBe(false);
		expect(touches).toHaveLength(2);
		touches[1]?.resolve(touched("14"));
		expect(await Promise.all([second, third])).toEqual(["14", "14"]);
	});

	test("uses a new value each time", async () => {
		const { marker, touches } = setUp();
		for (const version of ["12", "14"]) {
			const marked = marker.mark();
			await settle();
			touches.at(-1)?.resolve(touched(version));
			await marked;
		}
		expect(new Set(touches.map(({ value }) => value)).size).toBe(2);
	});

	test("knows no version if the watch is dead or the pod is not in the view, and sends nothing", async () => {
		const { marker, pods, clock, touches } = setUp();
		pods.watchLost();
		expect(await marker.mark()).toBeUndefined();
		pods.replace([], "11");
		pods.signOfLife(clock.now());
		expect(await marker.mark()).toBeUndefined();
		expect(touches).toEqual([]);
	});

	test("knows no version if the pod is gone, or if the touch changed nothing", async () => {
		const { marker, touches } = setUp();
		for (const answer of [{ kind: "gone" }, touched("7"), touched("6")] as const) {
			const marked = marker.mark();
			await settle();
			touches.at(-1)?.resolve(answer);
			expect(await marked).toBeUndefined();
		}
	});

	test("knows no version after a refusal, reports it, and touches again for the next caller", async () => {
		const { marker, touches, problems } = setUp();
		const refused = marker.mark();
		await settle();
		const refusal = new AgentUnavailableError("cannot touch pod", "eu-1");
		touches[0]?.reject(refusal);
		expect(await refused).toBeUndefined();
		expect(problems).toEqual([refusal]);
		const next = marker.mark();
		await settle();
		touches[1]?.resolve(touched("12"));
		expect(await next).toBe("12");
	});

	test("does not wait long for an answer", async () => {
		const { marker, touches, clock, problems } = setUp();
		const slow = marker.mark();
		await settle();
		clock.advance(499);
		expect(await isSettled(slow)).toBe(false);
		clock.advance(1);
		expect(await slow).toBeUndefined();
		expect(String(problems[0])).toContain(
			'touching pod "xpdb-system/xpdb-agent-a" in cluster "eu-1" took more than 500 ms',
		);
		touches[0]?.resolve(touched("12"));
	});
});
