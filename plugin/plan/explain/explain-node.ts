// explain node/NAME: every pod of it, as a drain with these flags would meet it.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { formatAge } from "../../flags/duration.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { findInOne } from "../../nodes/find-in-contexts.ts";
import { type NodeTarget, nodeTarget } from "../../nodes/node-target.ts";
import { type ExplainOptions, explainPods } from "./explain-pods.ts";
import { type ExplainedPod, type Explanation, type Finding, worstFirst, worstOf } from "./explanation.ts";
import { type FleetView, membersOf, uncoveredNotes } from "./fleet-view.ts";
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
	const pods = worstFirst(explained.pods.map(inDrain));
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
		leases: explained.leases,
		notes: notesOf(node, view, options.now),
		...membersOf(view),
	};
}

/** One pod that a drain may not take keeps all of its node, and one that does not end keeps it from being done. */
function inDrain(pod: ExplainedPod): ExplainedPod {
	const { drain, isOverdue, message } = pod;
	if (drain.kind === "refuses")
		return keptBy(pod, { verdict: "Refused", reason: "PodsNotAllowed", message: drain.message });
	return isOverdue && drain.kind === "takes" ? keptBy(pod, { verdict: "Waits", reason: "TimedOut", message }) : pod;
}

function keptBy(pod: ExplainedPod, finding: Omit<Finding, "usedBy">): ExplainedPod {
	return { ...pod, verdict: finding.verdict, findings: [{ ...finding, usedBy: [] }, ...pod.findings] };
}

function notesOf(node: NodeTarget, view: FleetView, now: number): readonly string[] {
	const { name, context, unschedulable, operation } = node;
	const notes = uncoveredNotes(view, context);
	if (operation?.kind === "operation") {
		const { id, state, by, since } = operation.operation;
		const what = state === "draining" ? "is being drained, or was and is not done" : "was drained";
		const age = formatAge(now - Date.parse(since));
		return [...notes, `Node ${name} ${what}: operation ${id} of ${by}, begun ${age} ago`];
	}
	return unschedulable ? [...notes, `Node ${name} is cordoned`] : notes;
}
