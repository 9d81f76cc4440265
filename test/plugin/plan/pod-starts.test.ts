import type { V1Pod, V1Probe } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { isStartKnown, readStarts, templateOf } from "../../../plugin/plan/pod-starts.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

interface Times {
	/** In seconds after the pod's creation, like `readyAt`. */
	readonly startedAt?: number;
	readonly readyAt?: number;
	readonly probe?: V1Probe;
	readonly restarts?: number;
	readonly node?: string;
	readonly revision?: string;
}

let number = 0;

function pod({ startedAt, readyAt, probe, restarts = 0, node = "n0", revision = "1" }: Times): V1Pod {
	number += 1;
	const labels = { "controller-revision-hash": revision };
	const made = newV1Pod(`db-${number}`, { owner: { kind: "StatefulSet", name: "db" }, labels, node });
	const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);
	return {
		...made,
		metadata: { ...made.metadata, creationTimestamp: at(0) },
		spec: { nodeName: node, containers: [{ name: "db", ...(probe && { readinessProbe: probe }) }] },
		status: {
			conditions: [
				{ type: "Ready", status: readyAt === undefined ? "False" : "True", lastTransitionTime: at(readyAt ?? 0) },
			],
			containerStatuses: [
				{
					name: "db",
					image: "",
					imageID: "",
					ready: true,
					restartCount: restarts,
					...(startedAt !== undefined && { state: { running: { startedAt: at(startedAt) } } }),
				},
			],
		},
	};
}

const probe = { periodSeconds: 2 };
const slow = { initialDelaySeconds: 20 };

describe("readStarts()", () => {
	const rows: readonly {
		readonly name: string;
		readonly pods: readonly Times[];
		readonly seconds: readonly number[];
	}[] = [
		{ name: "takes the time until a pod was ready", pods: [{ startedAt: 2, readyAt: 9, probe }], seconds: [9] },
		{
			name: "without a probe a pod is ready when its containers run, whatever its node did later",
			pods: [{ startedAt: 4, readyAt: 400 }],
			seconds: [6],
		},
		{
			name: "does not take a flap for a start where another pod of the template shows it",
			pods: [
				{ startedAt: 2, readyAt: 9, probe },
				{ startedAt: 3, readyAt: 93, probe },
				{ startedAt: 5, readyAt: 590, probe },
			],
			seconds: [9, 10, 12],
		},
		{
			name: "does not believe one pod alone whose probe asks from the start",
			pods: [{ startedAt: 2, readyAt: 400, probe }],
			seconds: [32],
		},
		{ name: "believes a probe that waits", pods: [{ startedAt: 2, readyAt: 92, probe: slow }], seconds: [92] },
		{ name: "does not believe a start of days", pods: [{ startedAt: 2, readyAt: 200_000, probe: slow }], seconds: [] },
		{
			name: "takes none of a pod that has started again",
			pods: [{ startedAt: 2, readyAt: 5, restarts: 1 }],
			seconds: [],
		},
		{ name: "takes none of a pod that is not ready", pods: [{ startedAt: 2 }], seconds: [] },
		{ name: "takes what there is of a pod that does not say when it started", pods: [{ readyAt: 5 }], seconds: [5] },
	];
	for (const { name, pods, seconds } of rows) {
		test(name, () => {
			expect([...readStarts(pods.map(pod)).values()].flat()).toEqual(seconds);
		});
	}

	test("keeps the templates of a controller apart, and knows none of a pod without a controller", () => {
		const [old, current] = [
			pod({ startedAt: 2, readyAt: 60, probe: slow }),
			pod({ startedAt: 2, readyAt: 9, probe, revision: "2" }),
		];
		const starts = readStarts([old, current, newV1Pod("bare", { ready: true })]);
		expect(starts.get(templateOf(old) ?? "")).toEqual([60]);
		expect(starts.get(templateOf(current) ?? "")).toEqual([9]);
		expect(starts.size).toBe(2);
	});
});

describe("isStartKnown()", () => {
	const rows: readonly { readonly name: string; readonly pods: readonly Times[]; readonly is: boolean }[] = [
		{ name: "a pod without a probe shows it", pods: [{ startedAt: 2, readyAt: 3 }], is: true },
		{
			name: "pods of one node may have lost their readiness together",
			pods: [
				{ startedAt: 2, readyAt: 9, probe },
				{ startedAt: 2, readyAt: 9, probe },
			],
			is: false,
		},
		{
			name: "pods of two nodes show it",
			pods: [
				{ startedAt: 2, readyAt: 9, probe },
				{ startedAt: 2, readyAt: 9, probe, node: "n1" },
			],
			is: true,
		},
		{ name: "pods that have started again do not", pods: [{ startedAt: 2, readyAt: 3, restarts: 2 }], is: false },
	];
	for (const { name, pods, is } of rows) {
		test(name, () => {
			const all = pods.map(pod);
			expect(isStartKnown(all[0] ?? newV1Pod("none"), all)).toBe(is);
		});
	}
});
