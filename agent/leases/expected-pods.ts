// Computes the expected pods from the scale of the pods' controllers. It follows getExpectedScale and its finders in
// pkg/controller/disruption, with three differences. It also counts controllers that have no pod now. A pod without a controller is one
// expected pod, where Kubernetes only records an event. DaemonSets are counted too.
//
// Guarantee: a pod that is gone and not yet replaced is still expected, through its controller's scale (relabelled.ts has the exception).
// The controllers are those whose pod template the budget selects, those of the selected pods that exist, and those that the Lease
// remembers. If a controller does not say how many pods it wants, the number is unknown, or the count rejects.
import type { ExpectedPods } from "../../disruption/budget/cluster.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import { controllerKey, isMemoryFull, rememberControllers } from "../../disruption/lease/remembered-controllers.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import { createOwners, type Owner, type Owners } from "./controller-owners.ts";
import type { MatchingWorkloads } from "./matching-workloads.ts";
import { isRelabelled, type NamespacePods } from "./relabelled.ts";
import type { ReplicaSetOwners } from "./replica-set-owners.ts";

export interface ExpectedScale {
	readonly expected: ExpectedPods;
	/** By the uid of a pod's controller: the owner whose scale counts for that pod. */
	readonly owners: ReadonlyMap<string, Owner>;
	/** The owners of workloads whose pod template the budget selects. */
	readonly matched: readonly Owner[];
	/** Keys of remembered controllers that no longer exist. */
	readonly forgotten: ReadonlySet<string>;
	/** Controllers known only from selected pods. The Lease must remember them before the count is used. */
	readonly unremembered: readonly ControllerReference[];
}

interface ExpectedQuestion {
	readonly namespace: string;
	/** All pods that the budget selects, finished ones too. */
	readonly pods: readonly PodRecord[];
	/** Pods whose owners are needed too. Only those that are also in `pods` are expected. */
	readonly candidates?: readonly PodRecord[];
	readonly remembered: readonly ControllerReference[];
	readonly matching: MatchingWorkloads;
	/** Shows whether the pods of remembered controllers were relabelled. If left out, no controller counts as relabelled. */
	readonly everything?: NamespacePods;
	/** Owners of ReplicaSets from recent reads. If left out, each owner is requested. */
	readonly replicaSets?: Pick<ReplicaSetOwners, "find"> | undefined;
}

/**
 * Adds up the scales of the controllers of these pods, of the matching workloads and of the remembered controllers. Rejects if the API
 * server does not answer: an unknown scale is not a scale of 0.
 */
export async function expectedPods(
	api: Pick<ClusterApi, "getScale">,
	question: ExpectedQuestion,
): Promise<ExpectedScale> {
	const { namespace, pods, candidates = [], remembered, matching, replicaSets } = question;
	const owners = createOwners(api, namespace, replicaSets);
	const all = [...pods, ...candidates];
	const [lately, names, matched] = await Promise.all([
		ownersOfPods(all, owners.ofPodLately),
		ownersOfNames(remembered, owners),
		ownersOfNames(matching.kind === "listed" ? matching.workloads : [], owners),
	]);
	const owning = haveMoreThanWanted(pods, lately) ? await ownersOfPods(all, owners.ofPod) : lately;
	const counted = new Map<string, Owner>();
	let bare = 0;
	let without: string | undefined;
	for (const pod of pods) {
		const owner = pod.controller && owning.get(pod.controller.uid);
		if (owner && isCounted(owner)) counted.set(controllerKey(owner.controller), owner);
		else if (pod.finished) continue;
		else if (!owner || owner.kind === "gone") bare += 1;
		else {
			const { kind, name } = owner.controller;
			without ??= `pod ${namespace}/${pod.name} is controlled by ${kind} "${name}", which has no scale`;
		}
	}
	const ofPods = [...counted.values()];
	for (const owner of matched.values()) if (isCounted(owner)) counted.set(controllerKey(owner.controller), owner);
	const unremembered = newToMemory(ofPods, { remembered, matched });
	const memory = rememberControllers(remembered, unremembered);
	await addRemembered(counted, names, owners, question.everything);
	const sum = sumOf(counted.values(), { namespace, bare, without });
	return {
		expected: matching.kind === "unlisted" ? matching.expected : isMemoryFull(memory) ? tooMany(namespace) : sum,
		unremembered: unremembered.filter((controller) => memory.includes(controller)),
		owners: owning,
		matched: [...matched.values()],
		forgotten: new Set([...names].filter(([, { kind }]) => kind === "gone").map(([key]) => key)),
	};
}

function isCounted({ kind }: Owner): boolean {
	return kind === "scaled" || kind === "unsettled" || kind === "unstated";
}

/** Returns the controllers that are known only from their pods, and would be forgotten together with them. */
function newToMemory(
	ofPods: readonly Owner[],
	{
		remembered,
		matched,
	}: { readonly remembered: readonly ControllerReference[]; readonly matched: ReadonlyMap<string, Owner> },
): readonly ControllerReference[] {
	const known = new Set(
		[...remembered, ...[...matched.values()].map(({ controller }) => controller)].map(controllerKey),
	);
	return ofPods.map(({ controller }) => controller).filter((controller) => !known.has(controllerKey(controller)));
}

/** The Lease has no room for all these names, so a controller that loses its pods now would be forgotten. */
function tooMany(namespace: string): ExpectedPods {
	const reason =
		`its Lease has no room to remember all custom resources that have pods in namespace ${namespace}: ` +
		"split them between several budgets, each with its own selector";
	return { kind: "unknown", reason };
}

async function ownersOfPods(pods: readonly PodRecord[], ownerOf: Owners["ofPod"]): Promise<ReadonlyMap<string, Owner>> {
	const controllers = new Map<string, ControllerReference>();
	for (const { controller } of pods) if (controller) controllers.set(controller.uid, controller);
	return new Map(
		await Promise.all([...controllers].map(async ([uid, controller]) => [uid, await ownerOf(controller)] as const)),
	);
}

/** Whether an owner has more pods than it wants, for example during a rollout, or because one of its ReplicaSets has another owner now. */
function haveMoreThanWanted(pods: readonly PodRecord[], owning: ReadonlyMap<string, Owner>): boolean {
	const standing = new Map<string, number>();
	return pods.some(({ controller, finished, terminating }) => {
		const owner = controller && owning.get(controller.uid);
		if (finished || terminating || owner?.kind !== "scaled") return false;
		const key = controllerKey(owner.controller);
		const count = (standing.get(key) ?? 0) + 1;
		standing.set(key, count);
		return count > owner.wants;
	});
}

async function ownersOfNames(
	remembered: readonly ControllerReference[],
	owners: Owners,
): Promise<ReadonlyMap<string, Owner>> {
	return new Map(
		await Promise.all(
			remembered.map(async (controller) => [controllerKey(controller), await owners.ofName(controller)] as const),
		),
	);
}

/** Adds the remembered controllers that are not counted yet, except those whose pods were relabelled (relabelled.ts). */
async function addRemembered(
	counted: Map<string, Owner>,
	names: ReadonlyMap<string, Owner>,
	owners: Owners,
	everything: NamespacePods | undefined,
): Promise<void> {
	for (const owner of names.values()) {
		const key = controllerKey(owner.controller);
		if (counted.has(key)) continue;
		const isElsewhere = owner.kind === "scaled" && everything && (await isRelabelled(owner, everything, owners));
		if (!isElsewhere) counted.set(key, owner);
	}
}

function sumOf(
	counted: Iterable<Owner>,
	{
		namespace,
		bare,
		without,
	}: { readonly namespace: string; readonly bare: number; readonly without: string | undefined },
): ExpectedPods {
	if (without !== undefined) return { kind: "unknown", reason: without };
	let total = bare;
	let unsettled: ControllerReference | undefined;
	let unstated: Extract<Owner, { kind: "unstated" }> | undefined;
	for (const owner of counted) {
		if (owner.kind === "scaled") total += owner.wants;
		else if (owner.kind === "unsettled") unsettled ??= owner.controller;
		// A reason that does not pass by itself takes precedence.
		else if (owner.kind === "unstated" && (unstated === undefined || unstated.passes)) unstated = owner;
	}
	if (unstated) {
		const { controller, why, passes } = unstated;
		const reason = `${controller.kind} "${namespace}/${controller.name}" does not say how many pods it wants: ${why}`;
		return { kind: "unknown", reason, ...(passes && { settles: true }) };
	}
	if (unsettled) {
		const { kind, name } = unsettled;
		const reason = `${kind} "${namespace}/${name}" has changed, and its controller has not yet reported the new number of nodes`;
		return { kind: "unknown", reason, settles: true };
	}
	if (total < 2 ** 31) return { kind: "known", pods: total };
	// The wire messages have 32 bits for this number.
	return {
		kind: "unknown",
		reason: `the controllers of namespace ${namespace} want ${total} pods, more than can be counted`,
	};
}

/** Returns why no controller says how many such pods there should be, or undefined if one does. */
export function whyUnexpected(pod: PodRecord, owners: ReadonlyMap<string, Owner>): string | undefined {
	if (!pod.controller) return "no controller owns it";
	const owner = owners.get(pod.controller.uid);
	if (owner?.kind !== "gone") return undefined;
	return `its ${owner.controller.kind} "${owner.controller.name}" does not exist any more`;
}
