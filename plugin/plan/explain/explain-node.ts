// explain node/NAME: every pod of it, as a drain with these flags would meet it.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { uncoveredWarning } from "../../fleet/fleet.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { findInOne } from "../../nodes/find-in-contexts.ts";
import { type NodeTarget, nodeTarget } from "../../nodes/node-target.ts";
import { type ExplainOptions, explainPods } from "./explain-pods.ts";
import { type ExplainedPod, type Explanation, worstFirst, worstOf } from "./explanation.ts";
import { type FleetView, membersOf } from "./fleet-view.ts";
import type { SubjectWord } from "./read-subject.ts";

export async function explainNode(
	word: SubjectWord,
	contexts: readonly KubeContext[],
	viewing: Promise<FleetView>,
	options: ExplainOptions,
): Promise<Explanation> {
	const { context, found } = await findInOne(word, contexts, "node", (place, name) =>
		place.client.get<V1Node>(`/api/v1/nodes/${encodeURIComponent(name)}`),
	);
	const node = nodeTarget(context, found);
	const readAt = options.runtime.now();
	const [view, listed] = await Promise.all([
		viewing,
		context.client.list<V1Pod>("/api/v1/pods", { fieldSelector: `spec.nodeName=${node.name}` }),
	]);
	const explained = await explainPods(
		context,
		listed.map((pod) => ({ context, pod, readAt })),
		view,
		options,
	);
	const pods = worstFirst(explained.pods.map(underFilter));
	// What a drain leaves is not in its way.
	const going = pods.filter(({ drain }) => drain.kind !== "leaves");
	const worst = worstOf(going);
	const keys = going.flatMap(({ findings }) => findings.map((finding) => [JSON.stringify(finding), finding] as const));
	return {
		subject: { kind: "Node", context: context.name, name: node.name },
		// Those that follow others of the node go by themselves.
		verdict: worst === "Follows" ? "MayGo" : worst,
		findings: worstFirst([...new Map(keys).values()]),
		pods,
		budgets: explained.budgets,
		notes: notesOf(node, view),
		...membersOf(view),
	};
}

/** One pod that a drain may not take keeps all of its node. */
function underFilter(pod: ExplainedPod): ExplainedPod {
	if (pod.drain.kind !== "refuses") return pod;
	const { message } = pod.drain;
	return {
		...pod,
		verdict: "Refused",
		findings: [{ verdict: "Refused", reason: "PodsNotAllowed", message, usedBy: [] }, ...pod.findings],
	};
}

function notesOf({ context, unschedulable, operation }: NodeTarget, { fleet, problems }: FleetView): readonly string[] {
	const notes: string[] = [];
	if (problems.length === 0 && fleet?.memberOf(context.name) === undefined) notes.push(uncoveredWarning);
	if (operation?.kind === "operation") {
		const { id, state, by, since } = operation.operation;
		const what = state === "draining" ? "it is being drained, or was and is not done" : "it was drained";
		notes.push(`${what}: operation ${id} of ${by} since ${since}`);
	} else if (unschedulable) {
		notes.push("it is cordoned");
	}
	return notes;
}
