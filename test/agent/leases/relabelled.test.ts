import { describe, expect, test } from "vitest";
import type { ScaleAnswer } from "../../../agent/cluster-api/scale-answer.ts";
import { createOwners } from "../../../agent/leases/controller-owners.ts";
import { expectedPods } from "../../../agent/leases/expected-pods.ts";
import { isRelabelled } from "../../../agent/leases/relabelled.ts";
import type { ControllerReference, PodRecord } from "../../../disruption/budget/pod.ts";
import { newController } from "../../support/build-lease.ts";
import { newPod } from "../../support/build-pod.ts";

const db = newController("db");
const web = newController("web", { kind: "Deployment" });
const old = newController("web-1", { kind: "ReplicaSet" });
const next = newController("web-2", { kind: "ReplicaSet" });
const adopted = newController("theirs", { kind: "ReplicaSet" });
const other = newController("web-api-1", { kind: "ReplicaSet" });

/** StatefulSet db wants 2 pods, and so does Deployment web with its three ReplicaSets. web-api-1 belongs to another Deployment. */
const scales: readonly (readonly [ControllerReference, ScaleAnswer])[] = [
	[db, { kind: "replicas", replicas: 2, uid: db.uid }],
	[web, { kind: "replicas", replicas: 2, uid: web.uid }],
	...[old, next, adopted].map((one) => [one, { kind: "replicas", replicas: 1, uid: one.uid, ownedBy: web }] as const),
	[newController("web-api", { kind: "Deployment" }), { kind: "replicas", replicas: 2, uid: "uid-of-web-api" }],
	[other, { kind: "replicas", replicas: 2, uid: other.uid, ownedBy: newController("web-api", { kind: "Deployment" }) }],
];
const getScale = async ({ kind, name }: { readonly kind: string; readonly name: string }): Promise<ScaleAnswer> =>
	scales.find(([each]) => each.kind === kind && each.name === name)?.[1] ?? { kind: "gone" };

type Trait = Partial<PodRecord> & { readonly selected?: boolean; readonly reserved?: boolean };

const pod = (controller: ControllerReference, index: number, { selected, reserved, ...more }: Trait = {}) => ({
	record: newPod(`${controller.name}-${index}`, { controller, labels: {}, ...more }),
	selected,
	reserved,
});

describe("isRelabelled()", () => {
	interface Row {
		readonly name: string;
		readonly of?: ControllerReference;
		readonly wants?: number;
		readonly pods: readonly ReturnType<typeof pod>[];
		readonly expected: boolean;
	}
	const rows: readonly Row[] = [
		{
			name: "is so where all that it wants are healthy, and none is selected",
			pods: [pod(db, 0), pod(db, 1)],
			expected: true,
		},
		{ name: "not where one is missing: it may come with the label", pods: [pod(db, 0)], expected: false },
		{ name: "not where one is not ready", pods: [pod(db, 0), pod(db, 1, { ready: false })], expected: false },
		{ name: "not where it has none at all", pods: [], expected: false },
		{ name: "not where it wants none", wants: 0, pods: [pod(db, 0)], expected: false },
		{
			name: "not while one that terminates is selected",
			pods: [pod(db, 0), pod(db, 1), pod(db, 2, { terminating: true, selected: true })],
			expected: false,
		},
		{
			name: "not while one is selected whose controller had another uid",
			pods: [pod(db, 0), pod(db, 1), pod({ ...db, uid: "before" }, 2, { selected: true })],
			expected: false,
		},
		{
			name: "not while one that is not selected is reserved",
			pods: [pod(db, 0), pod(db, 1), pod(db, 2, { reserved: true })],
			expected: false,
		},
		{
			name: "not where those that are healthy belong to one of that name before it",
			pods: [pod({ ...db, uid: "before" }, 0), pod({ ...db, uid: "before" }, 1)],
			expected: false,
		},
		{
			name: "is so for a Deployment whose pods are those of two ReplicaSets",
			of: web,
			pods: [pod(old, 0), pod(next, 0)],
			expected: true,
		},
		{
			name: "is so for a Deployment that adopted a ReplicaSet with a name of its own",
			of: web,
			pods: [pod(adopted, 0), pod(adopted, 1)],
			expected: true,
		},
		{
			name: "not for a Deployment by the pods of another one whose name begins like it",
			of: web,
			pods: [pod(other, 0), pod(other, 1)],
			expected: false,
		},
		{
			name: "not for a Deployment that lacks one pod, beside one of another whose name begins like it",
			of: web,
			pods: [pod(next, 0), pod(other, 0)],
			expected: false,
		},
		{
			name: "not for a Deployment while a pod of its old ReplicaSet terminates and is selected: a rollout",
			of: web,
			pods: [pod(next, 0), pod(next, 1), pod(old, 0, { terminating: true, selected: true })],
			expected: false,
		},
		{
			name: "not for a Deployment while a pod is selected whose ReplicaSet is gone",
			of: web,
			pods: [pod(next, 0), pod(next, 1), pod(newController("web-0", { kind: "ReplicaSet" }), 0, { selected: true })],
			expected: false,
		},
		{
			name: "is so for a Deployment while another one's pods are selected",
			of: web,
			pods: [pod(next, 0), pod(next, 1), pod(other, 0, { selected: true })],
			expected: true,
		},
	];
	for (const { name, of = db, wants = 2, pods, expected } of rows) {
		test(name, async () => {
			const uidsOf = (trait: "selected" | "reserved") =>
				new Set(pods.filter((each) => each[trait]).map(({ record }) => record.uid));
			const everything = {
				all: pods.map(({ record }) => record),
				selected: uidsOf("selected"),
				reserved: uidsOf("reserved"),
			};
			const owners = createOwners({ getScale }, "shop");
			expect(await isRelabelled({ kind: "scaled", controller: of, wants }, everything, owners)).toBe(expected);
		});
	}

	test("is found out without asking hundreds of ReplicaSets with other names", async () => {
		const asked: string[] = [];
		const owners = createOwners(
			{
				getScale: async (controller) => {
					asked.push(controller.name);
					return getScale(controller);
				},
			},
			"shop",
		);
		const all = Array.from(
			{ length: 51 },
			(_, index) => pod(newController(`x-${index}`, { kind: "ReplicaSet" }), 0).record,
		);
		const everything = { all, selected: new Set<string>(), reserved: new Set<string>() };
		expect(await isRelabelled({ kind: "scaled", controller: web, wants: 2 }, everything, owners)).toBe(false);
		expect(asked).toEqual([]);
	});
});

describe("expectedPods() of a remembered controller", () => {
	const noMatches = { kind: "listed", workloads: [] } as const;
	const relabelled = [pod(db, 0).record, pod(db, 1).record];
	const everything = { all: relabelled, selected: new Set<string>(), reserved: new Set<string>() };

	test("leaves it out where it was relabelled, and does not forget it", async () => {
		const found = await expectedPods(
			{ getScale },
			{ namespace: "shop", pods: [], remembered: [db], matching: noMatches, everything },
		);
		expect(found).toMatchObject({ expected: { kind: "known", pods: 0 }, forgotten: new Set() });
	});

	test("counts it where one of its pods is selected again", async () => {
		const [first] = relabelled;
		if (!first) throw new Error("there are two");
		const selected = { ...everything, selected: new Set([first.uid]) };
		const found = await expectedPods(
			{ getScale },
			{ namespace: "shop", pods: [first], remembered: [db], matching: noMatches, everything: selected },
		);
		expect(found.expected).toEqual({ kind: "known", pods: 2 });
	});
});
