// Compares what a view shows of real pods by a watch in protobuf with what it shows by a watch in JSON.
import { expect, onTestFinished, test } from "vitest";
import { createPodProjection } from "../../../agent/cluster-api/pod-projection.ts";
import { kubeconfigAccess } from "../../../agent/kubernetes/api-access.ts";
import { type ApiConnection, createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { podFields } from "../../../agent/kubernetes/protobuf-fields.ts";
import { startWatch } from "../../../agent/kubernetes/watch.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { PodStore } from "../../../agent/views/pod-view.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { eventually } from "../../e2e/kubectl.ts";

const spec = { schedulerName: "nobody", containers: [{ name: "main", image: "none" }] };
const condition = (type: string, status: string, more: object = {}) => ({
	type,
	status,
	lastTransitionTime: "2026-11-27T10:00:00Z",
	...more,
});

/** Pods with everything that a projection reads. */
const pods: readonly { readonly metadata: object; readonly spec: object; readonly status?: object }[] = [
	{ metadata: { name: "bare" }, spec },
	{
		metadata: {
			name: "labelled",
			labels: { app: "db", tier: "", "example.com/a_b": "x" },
			annotations: { "pre-activity.xpdb.form3.tech/flush": "", other: "grüße 😀" },
			ownerReferences: [
				{ apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "11111111-1111-4111-8111-111111111111" },
				{
					apiVersion: "example.com/v1",
					kind: "Rock",
					name: "r",
					uid: "22222222-2222-4222-8222-222222222222",
					controller: true,
					blockOwnerDeletion: false,
				},
			],
		},
		spec: { ...spec, nodeName: "nowhere" },
		status: { phase: "Running", conditions: [condition("Ready", "True"), condition("PodScheduled", "True")] },
	},
	{
		metadata: { name: "waiting" },
		spec: {
			...spec,
			initContainers: [
				{ name: "side", image: "none", restartPolicy: "Always" },
				{ name: "init", image: "none" },
			],
		},
		status: {
			phase: "Pending",
			conditions: [condition("PodScheduled", "False", { reason: "Unschedulable", message: "0/3 nodes are available" })],
			initContainerStatuses: [
				{ name: "side", started: true, ready: true, restartCount: 0, image: "", imageID: "", state: { running: {} } },
				{
					name: "init",
					ready: false,
					restartCount: 2,
					image: "",
					imageID: "",
					state: { waiting: { reason: "CrashLoopBackOff", message: "back-off" } },
				},
			],
		},
	},
	{
		metadata: { name: "failed" },
		spec,
		status: {
			phase: "Failed",
			reason: "Evicted",
			containerStatuses: [
				{
					name: "main",
					ready: false,
					restartCount: 0,
					image: "",
					imageID: "",
					state: { terminated: { exitCode: 0, reason: "Completed" } },
				},
			],
		},
	},
	{
		metadata: { name: "killed" },
		spec,
		status: {
			phase: "Running",
			conditions: [condition("Ready", "False", { reason: "ContainersNotReady" })],
			containerStatuses: [
				{
					name: "main",
					ready: false,
					restartCount: 0,
					image: "",
					imageID: "",
					state: { terminated: { exitCode: 137, signal: 9 } },
				},
			],
		},
	},
	{ metadata: { name: "terminating", finalizers: ["test.xpdb.form3.tech/hold"] }, spec },
];

describeOnFleet("a view of a real API server's pods", () => {
	// The oldest Kubernetes streams no lists, so its first list is in JSON.
	for (const index of [0, 2]) {
		test(`is the same in protobuf and in JSON, in c${index + 1}`, async () => {
			const { kubeconfigPath, contexts } = sharedFleet();
			const context = contexts[index] ?? "";
			const access = await kubeconfigAccess({ path: kubeconfigPath, context });
			const connection = createApiConnection({ access, clock: systemClock, cluster: context });
			onTestFinished(() => connection.close());
			const namespace = `protobuf-${process.pid}-${Date.now().toString(36)}`;
			const [inProtobuf, inJson] = [watched(connection, true), watched(connection, false)];
			await eventually("both views", async () => inProtobuf.synced && inJson.synced);
			await createPods(connection, namespace);
			onTestFinished(async () => {
				const path = `/api/v1/namespaces/${namespace}/pods/terminating`;
				await send(connection, "PATCH", path, { metadata: { finalizers: null } });
				await send(connection, "DELETE", `/api/v1/namespaces/${namespace}`);
			});
			const read = await send(connection, "GET", `/api/v1/namespaces/${namespace}/pods`);
			const { items } = read as { readonly items: readonly unknown[] };
			const expected = byName(items.map((item) => createPodProjection()(item)));
			expect(expected.map(({ name }) => name)).toHaveLength(pods.length);
			await eventually("all pods in both views", async () =>
				[inProtobuf, inJson].every((view) => [...view.pods(namespace)].length === pods.length),
			);
			expect(byName(inJson.pods(namespace))).toEqual(expected);
			expect(byName(inProtobuf.pods(namespace))).toEqual(expected);
			// A list in protobuf has them too, and the pods of all other namespaces.
			const listed = watched(connection, true);
			await eventually("a list", async () => listed.synced);
			expect(byName(listed.pods(namespace))).toEqual(expected);
			expect(listed.size).toBeGreaterThanOrEqual(expected.length);
		});
	}
});

function byName(records: Iterable<PodRecord>): readonly PodRecord[] {
	return [...records].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function watched(connection: ApiConnection, asProtobuf: boolean): PodStore {
	const store = new PodStore({ clock: systemClock });
	const watch = startWatch({
		connection,
		clock: systemClock,
		random: Math.random,
		resource: { name: "pods", path: "/api/v1/pods", resource: "pods", group: "" },
		project: createPodProjection(),
		...(asProtobuf && { protobuf: podFields }),
		sink: store,
		warn: (message) => {
			throw new Error(message);
		},
	});
	onTestFinished(() => watch.close());
	return store;
}

async function createPods(connection: ApiConnection, namespace: string): Promise<void> {
	const path = `/api/v1/namespaces/${namespace}/pods`;
	await send(connection, "POST", "/api/v1/namespaces", { metadata: { name: namespace } });
	for (const { status, ...pod } of pods) {
		const { name } = pod.metadata as { readonly name: string };
		await send(connection, "POST", path, pod);
		if (status) await send(connection, "PATCH", `${path}/${name}/status`, { status });
	}
	await send(connection, "DELETE", `${path}/terminating`, { gracePeriodSeconds: 30 });
}

async function send(
	connection: ApiConnection,
	method: "GET" | "POST" | "PATCH" | "DELETE",
	path: string,
	body?: object,
): Promise<unknown> {
	const contentType = method === "PATCH" ? { contentType: "application/merge-patch+json" } : {};
	const answer = await connection.request({ method, path, ...(body && { body }), ...contentType });
	if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
	return answer.body;
}
