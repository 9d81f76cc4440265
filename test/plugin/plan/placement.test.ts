import type { V1Node, V1NodeSelectorRequirement, V1Pod, V1PodSpec, V1Taint } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { findPlacement, type LocalVolume } from "../../../plugin/plan/placement.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

interface NodeFields {
	readonly labels?: Record<string, string>;
	readonly taints?: V1Taint[];
	readonly unschedulable?: boolean;
}

function newNode(name: string, { labels = {}, ...spec }: NodeFields = {}): V1Node {
	return { metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } }, spec };
}

function podWith(spec: Partial<V1PodSpec>): V1Pod {
	const pod = newV1Pod("db-0");
	return { ...pod, spec: { containers: [], ...pod.spec, ...spec } };
}

const required = (...terms: readonly V1NodeSelectorRequirement[][]) => ({
	nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
});
const affinity = (...terms: readonly V1NodeSelectorRequirement[][]): Partial<V1PodSpec> => ({
	affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required(...terms) } },
});
const volumeOn = (...hosts: readonly string[]): LocalVolume => ({
	claim: "data-db-0",
	volume: "pv-1",
	required: required([{ key: "kubernetes.io/hostname", operator: "In", values: [...hosts] }]),
});
const dedicated = { key: "dedicated", value: "batch", effect: "NoSchedule" };

interface Row {
	readonly name: string;
	readonly pod?: Partial<V1PodSpec>;
	readonly nodes: readonly V1Node[];
	readonly drained?: readonly string[];
	readonly volumes?: readonly LocalVolume[];
	/** Matches "KIND MESSAGE". */
	readonly expected: RegExp;
}

const rows: readonly Row[] = [
	{ name: "takes any other node", nodes: [newNode("n0"), newNode("n1")], expected: /^somewhere/ },
	{
		name: "has nowhere to go from the only node",
		nodes: [newNode("n0")],
		expected: /^nowhere no node of the cluster is left/,
	},
	{
		name: "has nowhere to go where all nodes are drained",
		nodes: [newNode("n0"), newNode("n1")],
		drained: ["n0", "n1"],
		expected: /^nowhere no node of the cluster is left/,
	},
	{
		name: "is tied to its node by a local volume",
		nodes: [newNode("n0"), newNode("n1")],
		volumes: [volumeOn("n0")],
		expected: /^nowhere its volume data-db-0 \(PersistentVolume pv-1\) can be reached from n0 only$/,
	},
	{
		name: "follows a volume that another node reaches",
		nodes: [newNode("n0"), newNode("n1"), newNode("n2")],
		volumes: [volumeOn("n0", "n2")],
		expected: /^somewhere/,
	},
	{
		name: "names no node for a volume that none reaches",
		nodes: [newNode("n0"), newNode("n1")],
		volumes: [volumeOn("gone")],
		expected: /^nowhere .*from no other node$/,
	},
	{
		name: "goes where its node selector fits",
		pod: { nodeSelector: { pool: "db" } },
		nodes: [newNode("n0"), newNode("n1", { labels: { pool: "db" } })],
		expected: /^somewhere/,
	},
	{
		name: "has nowhere to go where no other node has its label",
		pod: { nodeSelector: { pool: "db" } },
		nodes: [newNode("n0", { labels: { pool: "db" } }), newNode("n1")],
		expected: /^nowhere no other node fits its node selector or node affinity/,
	},
	...[
		{ operator: "In", values: ["b", "c"], fits: true },
		{ operator: "In", values: ["a"], fits: false },
		{ operator: "NotIn", values: ["b"], fits: false },
		{ operator: "Exists", values: [], fits: true },
		{ operator: "DoesNotExist", values: [], fits: false },
		{ operator: "Unheard", values: [], fits: true },
	].map(({ operator, values, fits }) => ({
		name: `${fits ? "fits" : "does not fit"} zone b by affinity ${operator} ${values.join(",")}`,
		pod: affinity([{ key: "zone", operator, values }]),
		nodes: [newNode("n0"), newNode("n1", { labels: { zone: "b" } })],
		expected: fits ? /^somewhere/ : /^nowhere .*node affinity/,
	})),
	{
		name: "compares numbers by Gt and Lt",
		pod: affinity([
			{ key: "cores", operator: "Gt", values: ["9"] },
			{ key: "cores", operator: "Lt", values: ["20"] },
		]),
		nodes: [newNode("n0"), newNode("n1", { labels: { cores: "16" } })],
		expected: /^somewhere/,
	},
	{
		name: "takes one of several terms",
		pod: affinity([{ key: "zone", operator: "In", values: ["x"] }], [{ key: "zone", operator: "In", values: ["b"] }]),
		nodes: [newNode("n0"), newNode("n1", { labels: { zone: "b" } })],
		expected: /^somewhere/,
	},
	{
		name: "is not fitted by a term that asks for nothing",
		pod: affinity([]),
		nodes: [newNode("n0"), newNode("n1")],
		expected: /^nowhere .*node affinity/,
	},
	{
		name: "does not go where a taint keeps it away",
		nodes: [newNode("n0"), newNode("n1", { taints: [dedicated] })],
		expected: /^nowhere it does not tolerate the taints of the other nodes \(dedicated\)/,
	},
	{
		name: "goes where it tolerates the taint",
		pod: { tolerations: [{ key: "dedicated", operator: "Equal", value: "batch", effect: "NoSchedule" }] },
		nodes: [newNode("n0"), newNode("n1", { taints: [dedicated] })],
		expected: /^somewhere/,
	},
	{
		name: "goes everywhere with a toleration of everything, to cordoned nodes too",
		pod: { tolerations: [{ operator: "Exists" }] },
		nodes: [newNode("n1", { taints: [dedicated], unschedulable: true })],
		expected: /^somewhere/,
	},
	{
		name: "may return to its drained node with a toleration of everything",
		pod: { tolerations: [{ operator: "Exists" }] },
		nodes: [newNode("n0"), newNode("n1")],
		expected: /^returns it tolerates the cordon$/,
	},
	{
		name: "returns to its drained node where it is pinned and tolerates the cordon",
		pod: {
			nodeSelector: { pool: "db" },
			tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }],
		},
		nodes: [newNode("n0", { labels: { pool: "db" }, unschedulable: true }), newNode("n1")],
		expected: /^returns it tolerates the cordon, and no other node fits its node selector or node affinity$/,
	},
	{
		name: "does not return where another taint of the drained node keeps it away",
		pod: { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }] },
		nodes: [newNode("n0", { taints: [dedicated] }), newNode("n1")],
		expected: /^somewhere/,
	},
	{
		name: "does not mind a preference",
		nodes: [newNode("n0"), newNode("n1", { taints: [{ ...dedicated, effect: "PreferNoSchedule" }] })],
		expected: /^somewhere/,
	},
	{
		name: "waits where the other nodes are cordoned",
		nodes: [newNode("n0"), newNode("n1", { unschedulable: true })],
		expected: /^later/,
	},
	{
		name: "waits where the other nodes are not ready",
		nodes: [newNode("n0"), newNode("n1", { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] })],
		expected: /^later/,
	},
];

describe("findPlacement()", () => {
	for (const { name, pod = {}, nodes, drained = ["n0"], volumes = [], expected } of rows) {
		test(name, () => {
			const placement = findPlacement(podWith(pod), nodes, { drained: new Set(drained), volumes });
			expect(`${placement.kind} ${"message" in placement ? placement.message : ""}`).toMatch(expected);
		});
	}
});
