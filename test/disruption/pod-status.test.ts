import { describe, expect, test } from "vitest";
import { podRecord } from "../../disruption/budget/pod.ts";
import { boundedStatus, podStatus } from "../../disruption/budget/pod-status.ts";

const metadata = { name: "cart-1", namespace: "shop", uid: "u1", resourceVersion: "7" };
const created = { ...metadata, creationTimestamp: "2026-01-01T00:00:00Z" };
const createdAt = 1_767_225_600;
const unready = { type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:01:00Z" };
const words = "0/3 nodes are available: 3 node(s) were unschedulable. preemption: not helpful";
const unscheduled = {
	type: "PodScheduled",
	status: "False",
	lastTransitionTime: "2026-01-01T00:00:09Z",
	message: words,
};
const inits = { initContainers: [{ name: "wait" }, { name: "mesh", restartPolicy: "Always" }] };
const runs = { state: { running: {} } };
const waits = (reason: string, name = "main") => ({ name, state: { waiting: { reason } } });
const ended = (fields: object, name = "main") => ({ name, state: { terminated: fields } });

describe("podStatus()", () => {
	const rows: readonly { name: string; pod: object; expected: object }[] = [
		{
			name: "a pod that no node takes, in the scheduler's words, since the scheduler said so",
			pod: { metadata: created, status: { phase: "Pending", conditions: [unready, unscheduled] } },
			expected: { state: "Pending", sinceSeconds: createdAt + 9, message: words },
		},
		{
			name: "a pod that is held back from scheduling",
			pod: { metadata, status: { phase: "Pending", conditions: [{ ...unscheduled, reason: "SchedulingGated" }] } },
			expected: { state: "SchedulingGated", sinceSeconds: createdAt + 9, message: words },
		},
		{
			name: "a pod of which nothing is said yet, since it was made",
			pod: { metadata: created, status: { phase: "Pending" } },
			expected: { state: "Pending", sinceSeconds: createdAt },
		},
		{
			name: "a pod that runs and is not ready, since then",
			pod: { metadata: created, status: { phase: "Running", conditions: [unready], containerStatuses: [runs] } },
			expected: { state: "Running", sinceSeconds: createdAt + 60 },
		},
		{
			name: "what its first container waits for",
			pod: {
				metadata,
				status: { phase: "Running", containerStatuses: [runs, waits("CrashLoopBackOff"), waits("ImagePullBackOff")] },
			},
			expected: { state: "CrashLoopBackOff" },
		},
		{
			name: "how its container ended",
			pod: { metadata, status: { phase: "Running", containerStatuses: [ended({ reason: "OOMKilled" })] } },
			expected: { state: "OOMKilled" },
		},
		{
			name: "a container that ended without a reason, by its code",
			pod: { metadata, status: { phase: "Running", containerStatuses: [ended({ exitCode: 3 })] } },
			expected: { state: "ExitCode:3" },
		},
		{
			name: "a container that was killed, by its signal",
			pod: { metadata, status: { phase: "Running", containerStatuses: [ended({ exitCode: 137, signal: 9 })] } },
			expected: { state: "Signal:9" },
		},
		{
			name: "a pod of which one container is done",
			pod: { metadata, status: { phase: "Running", containerStatuses: [ended({ reason: "Completed" }), runs] } },
			expected: { state: "NotReady" },
		},
		{
			name: "how far its init containers are",
			pod: { metadata, spec: inits, status: { phase: "Pending", initContainerStatuses: [{ name: "wait", ...runs }] } },
			expected: { state: "Init:0/2" },
		},
		{
			name: "what keeps an init container",
			pod: {
				metadata,
				spec: inits,
				status: {
					phase: "Pending",
					initContainerStatuses: [ended({ exitCode: 0 }, "wait"), waits("ImagePullBackOff", "mesh")],
					containerStatuses: [waits("PodInitializing")],
				},
			},
			expected: { state: "Init:ImagePullBackOff" },
		},
		{
			name: "what its containers wait for once its sidecars run",
			pod: {
				metadata,
				spec: inits,
				status: {
					phase: "Pending",
					initContainerStatuses: [ended({ exitCode: 0 }, "wait"), { name: "mesh", started: true, ...runs }],
					containerStatuses: [waits("ContainerCreating")],
				},
			},
			expected: { state: "ContainerCreating" },
		},
		{
			name: "a sidecar that starts anew beside running containers",
			pod: {
				metadata,
				spec: inits,
				status: {
					phase: "Running",
					conditions: [{ type: "Initialized", status: "True" }],
					initContainerStatuses: [waits("CrashLoopBackOff", "mesh")],
				},
			},
			expected: { state: "Running" },
		},
		{
			name: "a pod that is being deleted, since it was asked for",
			pod: {
				metadata: { ...created, deletionTimestamp: "2026-01-01T00:02:30Z", deletionGracePeriodSeconds: 30 },
				status: { phase: "Running", conditions: [unready] },
			},
			expected: { state: "Terminating", sinceSeconds: createdAt + 120 },
		},
		{
			name: "a pod that was deleted on a node that is lost",
			pod: { metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { reason: "NodeLost" } },
			expected: { state: "Unknown", sinceSeconds: createdAt },
		},
		{
			name: "of garbled fields nothing",
			pod: {
				metadata: { ...metadata, creationTimestamp: "soon" },
				spec: { initContainers: 7 },
				status: {
					phase: [],
					conditions: [null, { ...unscheduled, message: {}, lastTransitionTime: 9 }],
					containerStatuses: [3],
				},
			},
			expected: {},
		},
	];
	for (const { name, pod, expected } of rows) {
		test(`tells ${name}`, () => expect(podStatus(pod)).toEqual(expected));
	}
});

describe("podRecord()", () => {
	const recordOf = (status: object, more: object = {}) => podRecord({ metadata: { ...metadata, ...more }, status });

	test("keeps the status of pods that are not up only", () => {
		const ready = { conditions: [{ type: "Ready", status: "True" }] };
		expect(recordOf({ phase: "Running", ...ready })).not.toHaveProperty("status");
		expect(recordOf({ phase: "Succeeded" })).not.toHaveProperty("status");
		expect(recordOf({ phase: "Pending" }).status).toEqual({ state: "Pending" });
		const deleted = recordOf({ phase: "Running", ...ready }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
		expect(deleted.status).toEqual({ state: "Terminating", sinceSeconds: createdAt });
	});
});

describe("boundedStatus()", () => {
	test("keeps what others wrote on one short line", () => {
		const { state = "", message = "" } = boundedStatus({
			state: "x".repeat(500),
			message: `a\nb\u001b[2J${"x".repeat(5_000)}`,
		});
		expect(state).toHaveLength(61);
		expect(message).toMatch(/^a\\u000ab\\u001b\[2Jx+…$/);
		expect(message).toHaveLength(251);
	});

	test("says nothing of what is empty, or before the epoch", () => {
		expect(boundedStatus({ state: "", message: "", sinceSeconds: -1 })).toEqual({});
	});
});
