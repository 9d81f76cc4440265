import { describe, expect, test } from "vitest";
import { type DaemonSetState, type FilterOptions, filterPods } from "../../../plugin/drain/pod-filters.ts";
import { newV1Pod, type PodFields } from "../../support/build-v1-pod.ts";

const off: FilterOptions = {
	force: false,
	ignoreDaemonSets: false,
	deleteEmptyDirData: false,
	skipWaitAfterSeconds: 0,
};
const now = Date.parse("2026-01-01T00:01:00Z");
const daemonSet = { kind: "DaemonSet", name: "ds" };
const replicaSet = { kind: "ReplicaSet", name: "rs" };

interface Row {
	readonly name: string;
	readonly pod: PodFields;
	readonly options?: Partial<FilterOptions>;
	readonly daemonSet?: DaemonSetState;
	readonly taken: boolean;
	readonly warning?: string;
	readonly error?: string;
}

const rows: readonly Row[] = [
	{ name: "a pod with a controller is taken", pod: { owner: replicaSet }, taken: true },
	{
		name: "a pod without a controller is an error",
		pod: {},
		taken: false,
		error: "cannot delete Pods that declare no controller (use --force to override): default/p",
	},
	{
		name: "a pod without a controller is taken with a warning by --force",
		pod: {},
		options: { force: true },
		taken: true,
		warning: "deleting Pods that declare no controller: default/p",
	},
	{ name: "a finished pod without a controller needs no flag", pod: { phase: "Succeeded" }, taken: true },
	{
		name: "a DaemonSet's pod is an error",
		pod: { owner: daemonSet },
		taken: false,
		error: "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/p",
	},
	{
		name: "a DaemonSet's pod is left alone by --ignore-daemonsets",
		pod: { owner: daemonSet },
		options: { ignoreDaemonSets: true },
		taken: false,
		warning: "ignoring DaemonSet-managed Pods: default/p",
	},
	{ name: "a finished pod of a DaemonSet is taken", pod: { owner: daemonSet, phase: "Failed" }, taken: true },
	{
		name: "a DaemonSet that is gone is an error without --force",
		pod: { owner: daemonSet },
		daemonSet: { kind: "notFound", message: 'daemonsets.apps "ds" not found' },
		taken: false,
		error: 'cannot delete daemonsets.apps "ds" not found: default/p',
	},
	{
		// The last filter's message wins. A pod with a controller passes that filter without a message.
		name: "a pod of a DaemonSet that is gone is taken by --force, its warning lost as in kubectl",
		pod: { owner: daemonSet },
		options: { force: true },
		daemonSet: { kind: "notFound", message: 'daemonsets.apps "ds" not found' },
		taken: true,
	},
	{
		name: "a DaemonSet that cannot be read is an error also with --force",
		pod: { owner: daemonSet },
		options: { force: true, ignoreDaemonSets: true },
		daemonSet: { kind: "failed", message: "daemonsets.apps is forbidden" },
		taken: false,
		error: "cannot delete daemonsets.apps is forbidden: default/p",
	},
	{
		name: "a DaemonSet of another group is an ordinary controller",
		pod: { owner: { ...daemonSet, apiVersion: "apps.kruise.io/v1alpha1" } },
		taken: true,
	},
	{
		name: "a mirror pod is skipped in silence",
		pod: { annotations: { "kubernetes.io/config.mirror": "" } },
		taken: false,
	},
	{
		name: "an emptyDir is an error",
		pod: { owner: replicaSet, emptyDir: true },
		taken: false,
		error: "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/p",
	},
	{
		name: "an emptyDir of a controlled pod is taken with the flag, its warning lost as in kubectl",
		pod: { owner: replicaSet, emptyDir: true },
		options: { deleteEmptyDirData: true },
		taken: true,
	},
	{
		name: "an emptyDir of a bare pod: the last filter's error is told",
		pod: { emptyDir: true },
		options: { deleteEmptyDirData: true },
		taken: false,
		error: "cannot delete Pods that declare no controller (use --force to override): default/p",
	},
	{ name: "an emptyDir of a finished pod needs no flag", pod: { emptyDir: true, phase: "Succeeded" }, taken: true },
	{
		name: "a pod that terminates for long is skipped in silence",
		pod: { owner: replicaSet, deletedAt: "2026-01-01T00:00:00Z" },
		options: { skipWaitAfterSeconds: 30 },
		taken: false,
	},
	{
		name: "a pod that terminates since shortly is taken",
		pod: { owner: replicaSet, deletedAt: "2026-01-01T00:00:50Z" },
		options: { skipWaitAfterSeconds: 30 },
		taken: true,
	},
	{
		name: "a terminating pod is taken where nothing is skipped",
		pod: { owner: replicaSet, deletedAt: "2026-01-01T00:00:00Z" },
		taken: true,
	},
];

describe("filterPods()", () => {
	for (const row of rows) {
		test(row.name, async () => {
			const pod = newV1Pod("p", row.pod);
			const result = await filterPods(
				[pod],
				{ ...off, ...row.options },
				{
					now,
					findDaemonSet: async () => row.daemonSet ?? { kind: "found" },
				},
			);
			expect(result).toMatchObject({
				take: row.taken ? [pod] : [],
				warnings: row.warning ?? "",
				errors: row.error === undefined ? [] : [row.error],
			});
			const places = { taken: result.take, refused: result.refused.map((refusal) => refusal.pod), left: result.left };
			const expected = row.taken ? "taken" : row.error === undefined ? "left" : "refused";
			expect(Object.entries(places).flatMap(([place, pods]) => (pods.includes(pod) ? [place] : []))).toEqual([
				expected,
			]);
		});
	}

	test("a pod whose controller cannot be read is not one without: nothing is taken, whatever the flags", async () => {
		const pod = newV1Pod("p", { owner: { kind: "", name: "rs" } });
		const judged = filterPods(
			[newV1Pod("a"), pod],
			{ ...off, force: true },
			{ now, findDaemonSet: async () => ({ kind: "found" }) },
		);
		await expect(judged).rejects.toThrow('cannot read object "p": the kind of its controller is ""');
	});

	test("pods with one message share it, in their order", async () => {
		const pods = [newV1Pod("a"), newV1Pod("b", { owner: daemonSet }), newV1Pod("c")];
		const result = await filterPods(
			pods,
			{ ...off, force: true, ignoreDaemonSets: true },
			{
				now,
				findDaemonSet: async () => ({ kind: "found" }),
			},
		);
		expect(result.warnings).toBe(
			"deleting Pods that declare no controller: default/a, default/c; ignoring DaemonSet-managed Pods: default/b",
		);
		expect(result.take.map(({ metadata }) => metadata?.name)).toEqual(["a", "c"]);
	});
});
