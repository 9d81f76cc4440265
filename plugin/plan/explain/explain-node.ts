// Implements explain node/NAME: judges every pod of the node as a drain with the same flags would.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { formatAge } from "../../flags/duration.ts";
import { errorText, isForbidden } from "../../kubernetes/api-error.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { findInOne } from "../../nodes/find-in-contexts.ts";
import { type NodeTarget, nodeTarget } from "../../nodes/node-target.ts";
import { requirePathSegment } from "../../nodes/resource-argument.ts";
import { strandsOf } from "../judge-pod.ts";
import { type LocalVolumes, readLocalVolumes } from "../local-volumes.ts";
import { findPlacement, type Placement } from "../placement.ts";
import { type StrandedPod, strandedWarnings } from "../stranded-pods.ts";
import { type ExplainOptions, explainPods } from "./explain-pods.ts";
import { type ExplainedPod, type Explanation, type Finding, worstFirst, worstOf } from "./explanation.ts";
import { type FleetView, membersOf, uncoveredNotes } from "./fleet-view.ts";
import { type JudgedForDrain, judgeDrain } from "./judge-drain.ts";
import type { SubjectWord } from "./read-subject.ts";

export async function explainNode(
	word: SubjectWord,
	contexts: readonly KubeContext[],
	viewing: Promise<FleetView>,
	options: ExplainOptions,
): Promise<Explanation> {
	const { node, unseen } = await readNode(word, contexts);
	const { context } = node;
	const readAt = options.runtime.now();
	const [view, listed, nodes] = await Promise.all([viewing, readPods(node), readNodes(context)]);
	const explained = await explainPods(
		{ context, contexts },
		listed.pods.map((pod) => ({ context, pod, readAt })),
		view,
		options,
	);
	const volumes = await readLocalVolumes(context, listed.pods);
	const placed = explained.pods.map((each) => place(each, node, { nodes: nodes.nodes, volumes }));
	const agentNamespaces = view.fleet?.agentNamespaces(context.name) ?? [];
	const pods = worstFirst(judgeDrain(placed, { name: node.name, agentNamespaces }).map(inDrain));
	const going = pods.filter(({ drain }) => drain.kind !== "leaves");
	const keys = going.flatMap(({ findings }) => findings.map((finding) => [JSON.stringify(finding), finding] as const));
	const findings = worstFirst([...new Map(keys).values(), ...listed.findings]);
	const worst = worstOf([...going, ...listed.findings]);
	return {
		subject: { kind: "Node", context: context.name, name: node.name },
		// Pods that follow other pods of the node need no action.
		verdict: worst === "Follows" ? "MayGo" : worst,
		findings,
		pods,
		budgets: explained.budgets,
		leases: explained.leases,
		notes: [
			...unseen,
			...listed.findings.map(({ message }) => message),
			...nodes.problems,
			...volumes.problems,
			...strandedNotes(placed),
			...notesOf(node, view, options.now),
		],
		...membersOf(view),
	};
}

/** If the user may not read nodes and only one context is searched, returns only the node's name. Then its pods are still explained. */
async function readNode(
	word: SubjectWord,
	contexts: readonly KubeContext[],
): Promise<{ readonly node: NodeTarget; readonly unseen: readonly string[] }> {
	const unseen: string[] = [];
	const places = word.context ? [word.context] : contexts;
	const { context, found } = await findInOne(
		word,
		contexts,
		"node",
		async (place, name): Promise<V1Node> => {
			try {
				return await place.client.get<V1Node>(`/api/v1/nodes/${encodeURIComponent(name)}`);
			} catch (error) {
				if (!isForbidden(error) || places.length > 1) throw error;
				unseen.push(
					`Whether node ${name} is cordoned or being drained is not known: ${errorText(error).replace(`context ${name}: `, "")}`,
				);
				return { metadata: { name } };
			}
		},
		({ error, context: { name } }) =>
			unseen.push(
				`Context ${name} was not searched for the node: ${errorText(error).replace(`context ${name}: `, "")}`,
			),
	);
	return { node: nodeTarget(context, found), unseen };
}

/** If the user may not list all pods of the node, returns those in the context's namespace. */
async function readPods({
	name,
	context,
}: NodeTarget): Promise<{ readonly pods: readonly V1Pod[]; readonly findings: readonly Finding[] }> {
	const { client, namespace } = context;
	const fieldSelector = `spec.nodeName=${name}`;
	try {
		return { pods: await client.list<V1Pod>("/api/v1/pods", { fieldSelector }), findings: [] };
	} catch (error) {
		if (!isForbidden(error)) throw error;
		requirePathSegment("namespace", namespace);
		const pods = await client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`, { fieldSelector });
		const message = `Only pods of namespace ${namespace} could be listed, the node may have others: ${errorText(error).replace(`context ${name}: `, "")}`;
		return { pods, findings: [{ verdict: "Unknown", reason: "Forbidden", message, usedBy: [] }] };
	}
}

/** If the user may not list nodes, every replacement is assumed to find a node. */
async function readNodes({
	client,
}: KubeContext): Promise<{ readonly nodes: readonly V1Node[] | undefined; readonly problems: readonly string[] }> {
	try {
		return { nodes: await client.list<V1Node>("/api/v1/nodes"), problems: [] };
	} catch (error) {
		if (!isForbidden(error)) throw error;
		const problem = `Whether other nodes take the replacements is not known: ${errorText(error)}`;
		return { nodes: undefined, problems: [problem] };
	}
}

interface Placed extends JudgedForDrain {
	readonly placement: Placement;
}

function place(
	judged: JudgedForDrain,
	node: NodeTarget,
	{ nodes, volumes }: { readonly nodes: readonly V1Node[] | undefined; readonly volumes: LocalVolumes },
): Placed {
	const { pod, planned } = judged;
	if (!nodes || !planned.replaced) return { ...judged, placement: { kind: "somewhere" } };
	const placement = findPlacement(pod, nodes, { drained: new Set([node.name]), volumes: volumes.of(pod) });
	return { ...judged, placement, planned: { ...planned, ...strandsOf(placement) } };
}

function strandedNotes(pods: readonly Placed[]): readonly string[] {
	const stranded = pods.flatMap(({ explained, placement }): readonly StrandedPod[] => {
		const { context, namespace, pod, uid, budgets, drain } = explained;
		if (placement.kind === "somewhere" || drain.kind === "leaves") return [];
		return [{ context, namespace, pod, uid, budgets, placement }];
	});
	return strandedWarnings(stranded).map(({ message }) => `${message.charAt(0).toUpperCase()}${message.slice(1)}`);
}

/** Adds a finding if the pod would stop a drain: because the drain refuses it, or because it does not terminate. */
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
		const what = state === "draining" ? "belongs to an unfinished drain" : "was drained";
		const age = formatAge(now - Date.parse(since));
		return [...notes, `Node ${name} ${what}: operation ${id} of ${by}, begun ${age} ago`];
	}
	return unschedulable ? [...notes, `Node ${name} is cordoned`] : notes;
}
