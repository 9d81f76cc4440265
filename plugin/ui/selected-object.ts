// Finds the object for the key `y`: the selected pod that uses up a budget, or else that of the selected row.
import { culpritsOf } from "./explain-lines.ts";
import type { RunFacts } from "./run-facts.ts";
import type { ObjectName } from "./shown-object.ts";
import type { ViewState } from "./view-state.ts";

export function selectedObject(
	facts: RunFacts,
	{ selected, culprit }: Pick<ViewState, "selected" | "culprit">,
): ObjectName | undefined {
	const used = culprit === undefined ? undefined : culpritsOf(facts, selected).usedBy[culprit];
	if (used) {
		const { cluster, namespace, pod: name } = used;
		return { kind: "pod", context: facts.budgets.contextOf(cluster), namespace, name };
	}
	if (selected === undefined) return undefined;
	const pod = facts.pods.get(selected);
	if (pod) return { kind: "pod", context: pod.context, namespace: pod.namespace, name: pod.name };
	const node = facts.nodes.get(selected);
	if (node) return { kind: "node", context: node.context, name: node.node };
	const [namespace = "", name] = facts.budgets.all.find(({ key }) => key === selected)?.name.split("/") ?? [];
	return name === undefined ? undefined : { kind: "budget", context: undefined, namespace, name };
}
