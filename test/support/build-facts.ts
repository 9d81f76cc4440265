// Builds the facts for planning a drain: two clusters, "eu" and "us", each with one node to drain and one to keep.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import type { CandidateState, Count } from "../../disruption/budget/cluster.ts";
import type { FilteredPods } from "../../plugin/drain/pod-filters.ts";
import type { NeverPlanned } from "../../plugin/plan/drain-plan.ts";
import type { Coverage, FleetBudgets } from "../../plugin/plan/fleet-budgets.ts";
import type { PlanOptions } from "../../plugin/plan/make-plan.ts";
import type { LocalVolume } from "../../plugin/plan/placement.ts";
import type { ClusterFacts, PlanFacts } from "../../plugin/plan/read-facts.ts";
import { planBudget } from "../plugin/plan/build-plan.ts";
import { newContext } from "./build-context.ts";
import { budget, selector } from "./build-count.ts";
import { newV1Pod, type PodFields } from "./build-v1-pod.ts";

export interface FactFields {
	readonly spec?: Readonly<Record<string, unknown>>;
	readonly counts?: { readonly eu?: Partial<Count>; readonly us?: Partial<Count> };
	readonly eu?: readonly V1Pod[];
	readonly us?: readonly V1Pod[];
	readonly filtered?: Partial<FilteredPods>;
	readonly volumes?: readonly LocalVolume[];
	/** Set if the budget cannot be counted. */
	readonly never?: NeverPlanned;
	readonly coverage?: Coverage;
	readonly cluster?: Partial<ClusterFacts>;
}

export const planOptions: PlanOptions = {
	maxNodes: 1,
	order: { kind: "none" },
	gracePeriodSeconds: -1,
	timeoutMs: 0,
	now: Date.parse("2026-01-02T00:00:00Z"),
};

/** Returns a pod of StatefulSet db that became ready 5 s after its creation. */
export function databasePod(name: string, fields: PodFields = {}): V1Pod {
	const pod = newV1Pod(name, {
		namespace: "shop",
		labels: { app: "db" },
		owner: { kind: "StatefulSet", name: "db" },
		...fields,
	});
	const [made, ready] = [new Date("2026-01-01T00:00:00Z"), new Date("2026-01-01T00:00:05Z")];
	return {
		...pod,
		metadata: { ...pod.metadata, creationTimestamp: made },
		status: { ...pod.status, conditions: [{ type: "Ready", status: "True", lastTransitionTime: ready }] },
	};
}

export function newFacts(fields: FactFields = {}): PlanFacts {
	const { spec = { maxUnavailable: 1 }, counts = {}, eu = [], us = [], filtered = {}, never, cluster = {} } = fields;
	const counted = { ...planBudget(spec, counts), key: "shop/db", bound: boundText(spec) };
	const covered: Coverage = fields.coverage ?? { kind: "covered", budgets: [{ name: budget, selector }] };
	const fleet: FleetBudgets = {
		budgets: new Map([["shop/db", never === undefined ? counted : { never }]]),
		coverageOf: ({ metadata }) => (metadata?.labels?.["app"] === "db" ? covered : { kind: "none" }),
		stateOf: (_, pod) => stateOf(pod),
	};
	const clusters = ["eu", "us"].map((name): ClusterFacts => {
		const context = newContext(name);
		return {
			context,
			clusterId: name,
			isMember: true,
			agentNamespaces: ["xpdb-system"],
			nodes: [newNode(`${name}-n0`), newNode(`${name}-n1`)],
			volumes: { of: () => fields.volumes ?? [], problems: [] },
			native: { budgets: [], problems: [] },
			siblings: [],
			...cluster,
		};
	});
	return {
		nodes: clusters.map(({ context }) => ({
			target: { context, name: `${context.name}-n0`, uid: `uid-${context.name}`, unschedulable: false },
			pods: {
				take: context.name === "eu" ? eu : us,
				warnings: "",
				errors: [],
				refused: [],
				left: [],
				...(context.name === "eu" && filtered),
			},
		})),
		clusters: new Map(clusters.map((each) => [each.context.name, each])),
		fleet,
	};
}

function newNode(name: string): V1Node {
	return { metadata: { name, labels: { "kubernetes.io/hostname": name } }, spec: {} };
}

function stateOf({ metadata }: V1Pod): CandidateState {
	return {
		kind: "present",
		pod: { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" },
		healthy: true,
		resourceVersion: "1",
		labels: metadata?.labels ?? {},
		preActivities: [],
	};
}

function boundText(spec: Readonly<Record<string, unknown>>): string {
	return Object.entries(spec)
		.map(([field, value]) => `${field} ${String(value)}`)
		.join(" ");
}
