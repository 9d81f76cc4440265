// Builds drains to plan. By default, pods are in cluster "eu", under budget shop/db of the fleet "eu" and "us".
import type { CandidateState, Count } from "../../../disruption/budget/cluster.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { PlanBudget, PlanPod, PlanQueue, SimulatedDrain } from "../../../plugin/plan/drain-plan.ts";
import {
	budget,
	labels,
	memberBudget,
	newCount,
	newSpec,
	podReference,
	presentPod,
	selector,
} from "../../support/build-count.ts";

export function planBudget(
	spec: Readonly<Record<string, unknown>>,
	counts: { readonly eu?: Partial<Count>; readonly us?: Partial<Count> } = {},
): PlanBudget {
	const budgets = [memberBudget(newSpec(spec))];
	return {
		key: "db",
		memberIds: ["eu", "us"],
		bound: JSON.stringify(spec),
		counted: {
			budget: { name: budget, selector },
			counts: [newCount("eu", { budgets, ...counts.eu }), newCount("us", { budgets, ...counts.us })],
		},
	};
}

/** Returns a budget that only one cluster has, such as a PodDisruptionBudget. */
export function nativeBudget(
	clusterId: string,
	fields: Partial<Count> & { readonly minAvailable: number },
): PlanBudget {
	const { minAvailable, ...count } = fields;
	const name = { namespace: budget.namespace, name: `native-${clusterId}` };
	return {
		key: name.name,
		memberIds: [clusterId],
		isNative: true,
		bound: `minAvailable ${minAvailable}`,
		counted: {
			budget: { name, selector },
			counts: [
				newCount(clusterId, {
					fleetHash: fleetHash([clusterId]),
					budgets: [memberBudget(newSpec({ minAvailable }), name)],
					...count,
				}),
			],
		},
	};
}

export interface PodFields {
	readonly clusterId?: string;
	/** The keys of the pod's budgets. */
	readonly budgets?: readonly string[];
	readonly replaced?: boolean;
	readonly strands?: PlanPod["strands"];
	readonly state?: Partial<Parameters<typeof presentPod>[1]> | CandidateState;
}

export function planPod(name: string, fields: PodFields = {}): PlanPod {
	const { clusterId = "eu", budgets = ["db"], replaced = true, strands, state = {} } = fields;
	const known: CandidateState = state && "kind" in state ? state : presentPod(name, { labels, ...state });
	return {
		candidate: { clusterId, pod: podReference(name) },
		states: new Map(budgets.map((key) => [key, known])),
		replaced,
		...(strands && { strands }),
	};
}

/** A drain, and its expected course as story() tells it. */
export interface PlanRow {
	readonly name: string;
	readonly queues: readonly PlanQueue[];
	readonly budgets?: readonly PlanBudget[];
	readonly expected: readonly string[];
}

/** Times count waves: a pod is gone one wave after its eviction, and replaced at once. */
export const inWaves = () => ({ goneAfter: 1, backAfter: 0 });
export const two = { maxUnavailable: 2 };
export const one = { maxUnavailable: 1 };

export function queue(...groups: readonly (readonly PlanPod[])[]): PlanQueue {
	return { nodes: [{ name: "n0", groups }], atOnce: 1 };
}

/**
 * Returns "NAME@WAVE" for each pod, or "NAME never REASON". Waves count from 0. What the pod waited for follows, for example "db-1@1 for
 * db-0".
 */
export function story({ pods }: SimulatedDrain): readonly string[] {
	return pods.map((each) => {
		const { name } = each.pod.candidate.pod;
		if (each.kind === "never") return `${name} never ${each.never.reason}`;
		const waits = each.waits.map((wait) => {
			switch (wait.kind) {
				case "node":
					return ` after node ${wait.name}`;
				case "group":
					return ` after group ${wait.pods.map(({ pod }) => pod.name).join("+")}`;
				case "budget":
					return ` for ${wait.pods.map(({ pod }) => pod.name).join("+")}`;
				case "others":
					return ` for others (${wait.waiting.reason})`;
			}
		});
		return `${name}@${each.at}${waits.join("")}`;
	});
}
