import type { V1Pod } from "@kubernetes/client-node";
import { ApiError, errorText } from "../../kubernetes/api-error.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { findInOne } from "../../nodes/find-in-contexts.ts";
import { requirePathSegment } from "../../nodes/resource-argument.ts";
import { type ExplainOptions, explainPods } from "./explain-pods.ts";
import type { Explanation } from "./explanation.ts";
import { type FleetView, membersOf, uncoveredNotes } from "./fleet-view.ts";
import type { SubjectWord } from "./read-subject.ts";

export async function explainPod(
	word: SubjectWord,
	contexts: readonly KubeContext[],
	viewing: Promise<FleetView>,
	options: ExplainOptions,
): Promise<Explanation> {
	for (const { namespace } of contexts) requirePathSegment("namespace", namespace);
	const readAt = options.runtime.now();
	const unseen: string[] = [];
	const { context, found } = await findInOne(
		word,
		contexts,
		"pod",
		(place, name) => place.client.get<V1Pod>(`/api/v1/namespaces/${place.namespace}/pods/${encodeURIComponent(name)}`),
		({ error, context: { name } }) =>
			unseen.push(`Context ${name} was not searched for the pod: ${errorText(error).replace(`context ${name}: `, "")}`),
	);
	const view = await viewing;
	const of = { context, contexts };
	const { pods, budgets, leases } = await explainPods(of, [{ context, pod: found, readAt }], view, options);
	const pod = pods[0]?.explained;
	if (!pod) throw new ApiError(`pods "${word.rest}" not found`, { code: 404, reason: "NotFound" });
	const { namespace, pod: name, verdict, findings } = pod;
	return {
		subject: { kind: "Pod", context: context.name, namespace, name },
		verdict,
		findings,
		pods: [pod],
		budgets,
		leases,
		notes: [...unseen, ...uncoveredNotes(view, context)],
		...membersOf(view),
	};
}
