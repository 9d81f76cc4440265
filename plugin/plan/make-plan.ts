// Makes the plan: judges each pod, then simulates the drain in waves, and in seconds with the fastest, the slowest and the likely pace.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { controllerOf } from "../../disruption/budget/pod.ts";
import type { RoundCandidate, Waiting } from "../../disruption/budget/verdict.ts";
import { drainOrder } from "../drain/drain.ts";
import type { PodOrder } from "../drain/pod-order.ts";
import { suspendedText } from "../events/suspension-text.ts";
import { waitText } from "../events/used-by-text.ts";
import { formatDuration } from "../flags/duration.ts";
import { suspensionOfAll } from "../fleet/budget-members.ts";
import { uncoveredWarning } from "../fleet/connect-fleet.ts";
import { clientVersion } from "../kubernetes/client-version.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { exitCode } from "../terminal/exit.ts";
import type { PlanBudget, PlanPod, PlanQueue, PlanWait, SimulatedDrain } from "./drain-plan.ts";
import { judgePod } from "./judge-pod.ts";
import { type NativeBudget, nativeBudgetText } from "./native-budgets.ts";
import type { Placement } from "./placement.ts";
import {
	type ImpossiblePod,
	type Plan,
	type PlanEntry,
	type PlannedBudget,
	type PlannedWait,
	planSchema,
	type PodName,
} from "./plan.ts";
import { fleetBudgetRow, nativeBudgetRow } from "./planned-budgets.ts";
import { createPaceReader, estimateRange } from "./pod-pace.ts";
import type { NodeFacts, PlanFacts } from "./read-facts.ts";
import { simulateDrain } from "./simulate-drain.ts";
import { type StrandedPod, strandedWarnings } from "./stranded-pods.ts";

export interface PlanOptions {
	readonly maxNodes: number;
	readonly order: PodOrder;
	readonly gracePeriodSeconds: number;
	/** The timeout of each node. 0: none. */
	readonly timeoutMs: number;
	/** In ms since the epoch. */
	readonly now: number;
}

interface Placed {
	readonly name: PodName;
	readonly node: NodeTarget;
	readonly pod: V1Pod;
	readonly placement: Placement;
}

export function makePlan(facts: PlanFacts, options: PlanOptions): Plan {
	const placed = new Map<PlanPod, Placed>();
	const native = new Map<string, NativeBudget>();
	const impossible: ImpossiblePod[] = [];
	const warnings = new Set<string>();
	const queues = [...Map.groupBy(facts.nodes, ({ target }) => target.context).values()].map(
		(nodes): PlanQueue => ({
			atOnce: options.maxNodes,
			nodes: nodes.map((node) => ({ name: node.target.name, groups: groupsOf(node) })),
		}),
	);
	const budgets = budgetsOf(facts, native);
	const all = [
		...facts.nodes.flatMap(({ pods }) => [...pods.take, ...pods.left]),
		...[...facts.clusters.values()].flatMap(({ siblings }) => siblings),
	];
	const paceOf = createPaceReader(all, options);
	const paces = new Map([...placed].map(([planned, { pod }]) => [planned, paceOf(pod)]));
	const drainAt = (pace: "atLeast" | "likely" | "atMost"): SimulatedDrain =>
		simulateDrain(queues, budgets, (pod) => paces.get(pod)?.[pace] ?? { goneAfter: 0, backAfter: 0 });
	const inWaves = simulateDrain(queues, budgets, () => ({ goneAfter: 1, backAfter: 0 }));
	const atMost = drainAt("atMost");
	const pods = inWaves.pods.flatMap((each) => (each.kind === "goes" ? [entryOf(each)] : []));
	for (const each of inWaves.pods) {
		const place = placed.get(each.pod);
		if (each.kind === "never" && place) impossible.push(impossiblePod(place.pod, place.node, each.never));
	}
	const waitsForOthers = pods.some(({ waits }) => waits.some(({ own: isOwn }) => !isOwn));
	const atLeast = drainAt("atLeast").endsAt;
	const range = estimateRange(
		waitsForOthers
			? { atLeast, likely: atLeast, atMost: atLeast }
			: { atLeast, likely: drainAt("likely").endsAt, atMost: atMost.endsAt },
	);
	const measured = [...paces.values()].filter((pace) => pace.measured).length;
	const budgetRows = [
		...[...(facts.fleet?.budgets ?? [])].map(([key, budget]) => fleetBudgetRow(key, budget, pods)),
		...[...native.values()].map((budget) => nativeBudgetRow(budget, pods)),
	].toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
	for (const budget of facts.fleet?.budgets.values() ?? []) {
		if ("never" in budget) continue;
		const { name } = budget.counted.budget;
		const suspended = suspensionOfAll(name, budget.counted.counts);
		if (suspended) warnings.add(suspendedText(formatBudgetName(name), suspended.suspension, options.now));
	}
	for (const { context, isMember, volumes, native: budgetsOfCluster } of facts.clusters.values()) {
		if (!isMember) warnings.add(`${context.name}: ${uncoveredWarning}`);
		for (const problem of [...volumes.problems, ...budgetsOfCluster.problems]) warnings.add(problem);
	}
	warnAboutTimeout(atMost);
	for (const { context, message } of strandedWarnings(strandedPods())) {
		warnings.add(context === "" ? message : `${context}: ${message}`);
	}
	return {
		schema: planSchema,
		client: clientVersion,
		possible: impossible.length === 0,
		exitCode: impossible.length === 0 ? exitCode.done : exitCode.neverPossible,
		waves: Math.max(0, ...pods.map(({ wave }) => wave)),
		seconds: {
			atLeast: range.atLeast,
			atMost: waitsForOthers ? null : range.atMost,
			measuredPods: measured,
			assumedPods: paces.size - measured,
		},
		nodes: facts.nodes.map((node) => nodeRow(node, pods, impossible)),
		budgets: budgetRows,
		impossible,
		pods,
		warnings: [...warnings],
	};

	/** As in a drain, a pod that may not be evicted blocks its whole node. */
	function groupsOf({ target, pods: found }: NodeFacts): readonly (readonly PlanPod[])[] {
		for (const { pod, message } of found.refused) {
			impossible.push(impossiblePod(pod, target, { reason: "PodsNotAllowed", message }));
		}
		if (found.refused.length > 0) return [];
		if (found.warnings !== "") warnings.add(`${nodeText(target)}: ${found.warnings}`);
		const agents = facts.clusters.get(target.context.name)?.agentNamespaces ?? [];
		const groups = drainOrder(found.take, options.order, agents);
		return groups.map((group) => group.flatMap((pod) => plannedPod(pod, target) ?? []));
	}

	function plannedPod(pod: V1Pod, node: NodeTarget): PlanPod | undefined {
		const cluster = facts.clusters.get(node.context.name);
		if (!cluster) throw new Error(`a plan without context ${node.context.name}`);
		const sameContext = facts.nodes.filter(({ target }) => target.context === node.context);
		const drained = new Set(sameContext.map(({ target }) => target.name));
		const judged = judgePod(pod, cluster, { fleet: facts.fleet, drained });
		if (judged.kind === "never") {
			impossible.push(impossiblePod(pod, node, judged));
			return undefined;
		}
		const name = podName(pod, node);
		if (judged.native) native.set(judged.native.budget.key, judged.native);
		placed.set(judged.pod, { name, node, pod, placement: judged.placement });
		return judged.pod;
	}

	function entryOf({ pod: planned, at, waits }: Extract<SimulatedDrain["pods"][number], { kind: "goes" }>): PlanEntry {
		const place = placed.get(planned);
		if (!place) throw new Error("a plan with a pod that is nowhere");
		return {
			...place.name,
			uid: planned.candidate.pod.uid,
			node: place.node.name,
			owner: ownerOf(place.pod),
			wave: at + 1,
			budgets: [...planned.states.keys()].map(budgetText),
			waits: waits.map(waitOf),
			...(place.placement.kind === "nowhere" && {
				replacement: { reason: "NoOtherNode", message: place.placement.message },
			}),
		};
	}

	function strandedPods(): readonly StrandedPod[] {
		return inWaves.pods.flatMap(({ kind, pod: planned }) => {
			const place = placed.get(planned);
			if (kind !== "goes" || !place || place.placement.kind === "somewhere") return [];
			const { name, placement } = place;
			const budgetNames = [...planned.states.keys()].map(budgetText);
			return [{ ...name, uid: planned.candidate.pod.uid, budgets: budgetNames, placement }];
		});
	}

	function waitOf(wait: PlanWait): PlannedWait {
		switch (wait.kind) {
			case "node":
				return { reason: "NodeBefore", message: `node ${wait.name} is drained first`, own: true, node: wait.name };
			case "group":
				return { reason: "PodsBefore", message: "these pods of its node go first", own: true, ...names(wait.pods) };
			case "budget": {
				const { key, message } = wait;
				return { reason: "BudgetExhausted", message, own: true, budget: budgetText(key), ...names(wait.pods) };
			}
			case "others":
				return { reason: wait.waiting.reason, message: othersText(wait.waiting), own: false };
		}
	}

	function othersText({ message, usedBy }: Waiting): string {
		return waitText({ message, usedBy: usedBy.map(({ name, ...used }) => ({ ...used, pod: name })) }, options.now);
	}

	function names(candidates: readonly RoundCandidate[]): Required<Pick<PlannedWait, "pods" | "podCount">> {
		const contextOf = new Map([...facts.clusters.values()].map(({ clusterId, context }) => [clusterId, context.name]));
		const pods = candidates.slice(0, maxNamedPods).map(({ clusterId, pod: { namespace, name: pod } }) => ({
			context: contextOf.get(clusterId) ?? "",
			namespace,
			pod,
		}));
		return { pods, podCount: candidates.length };
	}

	/** Removes the context, which the key of a cluster's own budget contains. */
	function budgetText(key: string): string {
		const budget = native.get(key);
		return budget ? nativeBudgetText(budget) : key;
	}

	function warnAboutTimeout(slowest: SimulatedDrain): void {
		if (options.timeoutMs <= 0) return;
		const going = slowest.pods.filter((each) => each.kind === "goes");
		const byNode = Map.groupBy(going, ({ pod: planned }) => placed.get(planned)?.node);
		for (const [node, each] of byNode) {
			const seconds = Math.max(...each.map(({ goneAt }) => goneAt)) - Math.min(...each.map(({ at }) => at));
			if (!node || seconds * 1_000 <= options.timeoutMs) continue;
			warnings.add(`${nodeText(node)} may take longer than its timeout of ${formatDuration(options.timeoutMs)}`);
		}
	}
}

/** Enough to recognise the pods. Without a limit, the plan would grow with the square of their number. */
const maxNamedPods = 20;

/** Sorts the fleet's budgets first, then by name, so that plans can be compared. */
function orderOf({ kind, namespace, name, context = "" }: PlannedBudget): string {
	return [kind === "XPodDisruptionBudget" ? 0 : 1, namespace, name, context].join("/");
}

function budgetsOf({ fleet }: PlanFacts, native: ReadonlyMap<string, NativeBudget>): readonly PlanBudget[] {
	const counted = [...(fleet?.budgets.values() ?? [])].flatMap((budget) => ("never" in budget ? [] : [budget]));
	return [...counted, ...[...native.values()].map(({ budget }) => budget)];
}

function nodeRow(
	{ target, pods: found }: NodeFacts,
	pods: readonly PlanEntry[],
	impossible: readonly ImpossiblePod[],
): Plan["nodes"][number] {
	const isHere = (each: { readonly context: string; readonly node: string }): boolean =>
		each.context === target.context.name && each.node === target.name;
	const waves = pods.filter(isHere).map(({ wave }) => wave);
	return {
		context: target.context.name,
		node: target.name,
		pods: waves.length,
		left: found.left.length,
		impossible: impossible.filter(isHere).length,
		refused: found.refused.length > 0,
		firstWave: waves.length > 0 ? Math.min(...waves) : 0,
		lastWave: Math.max(0, ...waves),
	};
}

function impossiblePod(
	pod: V1Pod,
	node: NodeTarget,
	{ reason, message }: Pick<ImpossiblePod, "reason" | "message">,
): ImpossiblePod {
	return { ...podName(pod, node), uid: pod.metadata?.uid ?? "", node: node.name, owner: ownerOf(pod), reason, message };
}

function podName({ metadata }: V1Pod, { context }: NodeTarget): PodName {
	return { context: context.name, namespace: metadata?.namespace ?? "", pod: metadata?.name ?? "" };
}

function nodeText({ context, name }: NodeTarget): string {
	return context.name === "" ? name : `${context.name}/${name}`;
}

function ownerOf(pod: V1Pod): string {
	return controllerOf(pod)?.name ?? pod.metadata?.name ?? "";
}
