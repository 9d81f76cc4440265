import { describe, expect, test } from "vitest";
import type { ControllerName } from "../../../agent/cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../../../agent/cluster-api/scale-answer.ts";
import { expectedPods, whyUnexpected } from "../../../agent/leases/expected-pods.ts";
import type { MatchingWorkloads } from "../../../agent/leases/matching-workloads.ts";
import type { ExpectedPods } from "../../../disruption/budget/cluster.ts";
import type { ControllerReference, PodRecord } from "../../../disruption/budget/pod.ts";
import { controllerKey } from "../../../disruption/lease/remembered-controllers.ts";
import { newPod } from "../../support/build-pod.ts";
import { unavailable } from "../../support/simulated-agent.ts";

function controller(kind: string, name: string, apiVersion = "apps/v1"): ControllerReference {
	return { apiVersion, kind, name, uid: `uid-of-${kind}-${name}` };
}

const deployment = controller("Deployment", "web");
const oldReplicaSet = controller("ReplicaSet", "web-1");
const newReplicaSet = controller("ReplicaSet", "web-2");
const statefulSet = controller("StatefulSet", "db");
const job = controller("Job", "import", "batch/v1");
const daemonSet = controller("DaemonSet", "agent");
const custom = controller("CloneSet", "web", "kruise.example.com/v1beta1");

/** By default, `uid` is that of the controller to which the answer belongs. */
const replicas = (count: number, ownedBy?: ControllerReference, uid = ""): ScaleAnswer => ({
	kind: "replicas",
	replicas: count,
	uid,
	...(ownedBy && { ownedBy }),
});
const unsettled: ScaleAnswer = { kind: "unsettled", uid: "" };

function pods(owner: ControllerReference | undefined, count: number, more: Partial<PodRecord> = {}): PodRecord[] {
	const name = owner?.name ?? "bare";
	return Array.from({ length: count }, (_, index) =>
		newPod(`${name}-${index}`, { ...(owner && { controller: owner }), ...more }),
	);
}

/** Returns an API in which controllers without a scale are gone. */
function api(scales: readonly (readonly [ControllerReference, ScaleAnswer | Error])[]) {
	const asked: string[] = [];
	const getScale = async (owner: ControllerName, namespace: string): Promise<ScaleAnswer> => {
		asked.push(`${namespace} ${owner.kind} ${owner.name}`);
		const [named, answer = { kind: "gone" }] =
			scales.find(([each]) => controllerKey(each) === controllerKey(owner)) ?? [];
		if (answer instanceof Error) throw answer;
		return "uid" in answer ? { ...answer, uid: answer.uid || (named?.uid ?? "") } : answer;
	};
	return { asked, getScale };
}

/** The budget selects all pods of the namespace, and none is reserved. */
function question(pods: readonly PodRecord[], remembered: readonly ControllerReference[] = []) {
	const selected = new Set(pods.map(({ uid }) => uid));
	return {
		namespace: "shop",
		pods,
		remembered,
		matching: noMatches,
		everything: { all: pods, selected, reserved: new Set<string>() },
	};
}

const noMatches: MatchingWorkloads = { kind: "listed", workloads: [] };
const known = (count: number): ExpectedPods => ({ kind: "known", pods: count });
const unknown = (reason: string): ExpectedPods => ({ kind: "unknown", reason });

test("expectedPods() gives no number that cannot be sent", async () => {
	const { expected } = await expectedPods(
		{ getScale: async () => replicas(2 ** 31 - 1) },
		question([], [statefulSet, deployment]),
	);
	expect(expected).toEqual({
		kind: "unknown",
		reason: "the controllers of namespace shop want 4294967294 pods, more than can be counted",
	});
});

describe("expectedPods()", () => {
	interface Row {
		readonly name: string;
		readonly scales?: readonly (readonly [ControllerReference, ScaleAnswer])[];
		readonly pods: readonly PodRecord[];
		readonly remembered?: readonly ControllerReference[];
		readonly expected: ExpectedPods;
	}
	const rows: readonly Row[] = [
		{ name: "is 0 where there are no pods", pods: [], expected: known(0) },
		{
			name: "is the scale of a StatefulSet, however many of its pods there are",
			scales: [[statefulSet, replicas(5)]],
			pods: pods(statefulSet, 2),
			expected: known(5),
		},
		{
			name: "is the scale of a ReplicationController",
			scales: [[controller("ReplicationController", "old", "v1"), replicas(2)]],
			pods: pods(controller("ReplicationController", "old", "v1"), 2),
			expected: known(2),
		},
		{
			name: "is the scale of anything that has one",
			scales: [[controller("Rollout", "web", "argoproj.io/v1alpha1"), replicas(4)]],
			pods: pods(controller("Rollout", "web", "argoproj.io/v1alpha1"), 3),
			expected: known(4),
		},
		{
			name: "is the Deployment's where a ReplicaSet belongs to one",
			scales: [
				[oldReplicaSet, replicas(3, deployment)],
				[deployment, replicas(7)],
			],
			pods: pods(oldReplicaSet, 3),
			expected: known(7),
		},
		{
			name: "counts a Deployment once, whose two ReplicaSets both have pods",
			scales: [
				[oldReplicaSet, replicas(2, deployment)],
				[newReplicaSet, replicas(2, deployment)],
				[deployment, replicas(3)],
			],
			pods: [...pods(oldReplicaSet, 2), ...pods(newReplicaSet, 2)],
			expected: known(3),
		},
		{
			name: "is the ReplicaSet's own where it belongs to nobody",
			scales: [[oldReplicaSet, replicas(3)]],
			pods: pods(oldReplicaSet, 3),
			expected: known(3),
		},
		{
			name: "is the ReplicaSet's own where it belongs to anything but a Deployment",
			scales: [[oldReplicaSet, replicas(3, controller("Rollout", "web", "argoproj.io/v1alpha1"))]],
			pods: pods(oldReplicaSet, 3),
			expected: known(3),
		},
		{
			name: "is not asked of a Deployment of another group",
			scales: [[oldReplicaSet, replicas(3, controller("Deployment", "web", "example.com/v1"))]],
			pods: pods(oldReplicaSet, 3),
			expected: known(3),
		},
		{
			name: "adds up the controllers",
			scales: [
				[statefulSet, replicas(5)],
				[oldReplicaSet, replicas(2)],
			],
			pods: [...pods(statefulSet, 1), ...pods(oldReplicaSet, 1)],
			expected: known(7),
		},
		{
			name: "is as many as a DaemonSet is scheduled to have, one that is gone and not back yet among them",
			scales: [[daemonSet, replicas(3)]],
			pods: pods(daemonSet, 2),
			expected: known(3),
		},
		{
			name: "will be known once the controller has looked at a DaemonSet that was changed",
			scales: [[daemonSet, unsettled]],
			pods: pods(daemonSet, 3),
			expected: {
				kind: "unknown",
				reason: 'DaemonSet "shop/agent" has changed, and its controller has not yet reported the new number of nodes',
				settles: true,
			},
		},
		{
			name: "cannot be had where a custom resource does not say how many pods it wants",
			scales: [[custom, { kind: "unstated", why: "its .spec.replicas is not set", passes: false }]],
			pods: pods(custom, 3),
			expected: unknown('CloneSet "shop/web" does not say how many pods it wants: its .spec.replicas is not set'),
		},
		{
			name: "is no number of a remembered custom resource either, without any pod",
			scales: [
				[custom, { kind: "unstated", why: "its API does not answer", passes: true }],
				[daemonSet, replicas(1)],
			],
			pods: pods(daemonSet, 1),
			remembered: [custom],
			expected: {
				kind: "unknown",
				reason: 'CloneSet "shop/web" does not say how many pods it wants: its API does not answer',
				settles: true,
			},
		},
		{
			name: "remembers a DaemonSet, too",
			scales: [[daemonSet, replicas(1)]],
			pods: [],
			remembered: [daemonSet],
			expected: known(1),
		},
		{ name: "is one for each pod of a DaemonSet that is gone", pods: pods(daemonSet, 3), expected: known(3) },
		{ name: "is one for each pod that nobody controls", pods: pods(undefined, 2), expected: known(2) },
		{ name: "is one for each pod whose controller is gone", pods: pods(statefulSet, 2), expected: known(2) },
		{
			name: "is one for each pod whose controller's name somebody else has now",
			scales: [[statefulSet, replicas(7, undefined, "another")]],
			pods: pods(statefulSet, 2),
			expected: known(2),
		},
		{
			name: "is the next one's where a remembered controller was deleted and made anew",
			scales: [[statefulSet, replicas(3, undefined, "another")]],
			pods: [],
			remembered: [statefulSet],
			expected: known(3),
		},
		{
			name: "is one for each pod of a ReplicaSet whose Deployment is gone",
			scales: [[oldReplicaSet, replicas(3, deployment)]],
			pods: pods(oldReplicaSet, 2),
			expected: known(2),
		},
		{
			name: "still counts a pod that terminates and belongs to nobody",
			pods: pods(undefined, 1, { terminating: true }),
			expected: known(1),
		},
		{
			name: "leaves out finished pods that belong to nobody",
			pods: pods(undefined, 2, { finished: true }),
			expected: known(0),
		},
		{
			name: "cannot be had for a Job, and names a pod and the Job",
			scales: [[job, { kind: "withoutScale" }]],
			pods: [...pods(undefined, 1), ...pods(job, 2)],
			expected: unknown('pod shop/import-0 is controlled by Job "import", which has no scale'),
		},
		{
			name: "can be had where all pods of the Job have finished",
			scales: [[job, { kind: "withoutScale" }]],
			pods: [...pods(undefined, 1), ...pods(job, 2, { finished: true })],
			expected: known(1),
		},
		{
			name: "is 0 where the controller is scaled to 0 and its pods are still there",
			scales: [[statefulSet, replicas(0)]],
			pods: pods(statefulSet, 3),
			expected: known(0),
		},
		{
			// With one replica in a cluster, the evicted pod would otherwise no longer be expected.
			name: "remembers the controller of a pod that is gone",
			scales: [[statefulSet, replicas(1)]],
			pods: [],
			remembered: [statefulSet],
			expected: known(1),
		},
		{
			name: "counts a remembered controller once that has pods again",
			scales: [[statefulSet, replicas(2)]],
			pods: pods(statefulSet, 2),
			remembered: [statefulSet],
			expected: known(2),
		},
		{
			name: "counts a remembered Deployment once beside a ReplicaSet of it",
			scales: [
				[newReplicaSet, replicas(2, deployment)],
				[deployment, replicas(2)],
			],
			pods: pods(newReplicaSet, 2),
			remembered: [deployment],
			expected: known(2),
		},
		{
			name: "is nothing for a remembered controller that is gone",
			pods: [],
			remembered: [statefulSet],
			expected: known(0),
		},
		{
			name: "does not mind a remembered controller without scale that has no pods here",
			scales: [[job, { kind: "withoutScale" }]],
			pods: [],
			remembered: [job],
			expected: known(0),
		},
	];
	for (const { name, scales = [], pods: selected, remembered = [], expected } of rows) {
		test(name, async () => {
			expect((await expectedPods(api(scales), question(selected, remembered))).expected).toEqual(expected);
		});
	}

	test("rejects where the API server does not answer: an unknown scale is no scale of 0", async () => {
		await expect(expectedPods(api([[statefulSet, unavailable] as never]), question(pods(statefulSet, 1)))).rejects.toBe(
			unavailable,
		);
	});

	test("rejects where the Deployment behind a ReplicaSet cannot be read", async () => {
		const scales = [[oldReplicaSet, replicas(1, deployment)] as const, [deployment, unavailable] as const];
		await expect(expectedPods(api(scales), question(pods(oldReplicaSet, 1)))).rejects.toBe(unavailable);
	});

	test("asks for each controller once, in the budget's namespace", async () => {
		const { asked, getScale } = api([[statefulSet, replicas(3)]]);
		await expectedPods({ getScale }, question(pods(statefulSet, 3), [statefulSet]));
		expect(asked).toEqual(["shop StatefulSet db"]);
	});
});

describe("expectedPods() says who decides", () => {
	test("the Deployment for its ReplicaSet, everybody else for themselves", async () => {
		const scales = [
			[oldReplicaSet, replicas(3, deployment)],
			[deployment, replicas(3)],
			[statefulSet, replicas(1)],
		] as const;
		const { owners } = await expectedPods(api(scales), question([...pods(oldReplicaSet, 1), ...pods(statefulSet, 1)]));
		expect(owners.get(oldReplicaSet.uid)).toMatchObject({ kind: "scaled", controller: deployment });
		expect(owners.get(statefulSet.uid)).toMatchObject({ kind: "scaled", controller: statefulSet });
	});
});

describe("expectedPods() forgets", () => {
	const cases: readonly {
		readonly name: string;
		readonly scales: readonly (readonly [ControllerReference, ScaleAnswer])[];
		readonly forgotten: readonly string[];
	}[] = [
		{ name: "a remembered controller that is gone", scales: [], forgotten: ["apps/Deployment/web"] },
		{
			name: "none whose name another one has now",
			scales: [[deployment, replicas(1, undefined, "another")]],
			forgotten: [],
		},
		{ name: "none that is there, scaled to 0 or not", scales: [[deployment, replicas(0)]], forgotten: [] },
		{ name: "none without scale", scales: [[deployment, { kind: "withoutScale" }]], forgotten: [] },
	];
	for (const { name, scales, forgotten } of cases) {
		test(name, async () => {
			const found = await expectedPods(api(scales), question([], [deployment]));
			expect([...found.forgotten]).toEqual(forgotten);
		});
	}

	test("a remembered ReplicaSet whose Deployment is gone", async () => {
		const scales = [[oldReplicaSet, replicas(1, deployment)] as const];
		expect((await expectedPods(api(scales), question([], [oldReplicaSet]))).forgotten).toEqual(
			new Set(["apps/ReplicaSet/web-1"]),
		);
	});

	test("nobody who was not remembered", async () => {
		expect((await expectedPods(api([]), question(pods(statefulSet, 1)))).forgotten).toEqual(new Set());
	});
});

describe("whyUnexpected() says of a pod that nobody says how many there should be of", () => {
	const rows: readonly {
		readonly name: string;
		readonly scales?: readonly (readonly [ControllerReference, ScaleAnswer])[];
		readonly owner: ControllerReference | undefined;
		readonly why: string | undefined;
	}[] = [
		{ name: "without a controller", owner: undefined, why: "no controller owns it" },
		{ name: "whose controller is gone", owner: statefulSet, why: 'its StatefulSet "db" does not exist any more' },
		{
			name: "whose Deployment is gone",
			scales: [[oldReplicaSet, replicas(1, deployment)]],
			owner: oldReplicaSet,
			why: 'its Deployment "web" does not exist any more',
		},
		{
			name: "whose controller's name another one has",
			scales: [[statefulSet, replicas(1, undefined, "another")]],
			owner: statefulSet,
			why: 'its StatefulSet "db" does not exist any more',
		},
		{ name: "nothing where it is known", scales: [[statefulSet, replicas(1)]], owner: statefulSet, why: undefined },
	];
	for (const { name, scales = [], owner, why } of rows) {
		test(name, async () => {
			const [pod] = pods(owner, 1);
			if (!pod) throw new Error("there is one pod");
			const { owners } = await expectedPods(api(scales), { ...question([]), candidates: [pod] });
			expect(whyUnexpected(pod, owners)).toBe(why);
		});
	}
});
