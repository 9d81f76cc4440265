// Suggests an existing name: the same one in another namespace, or a similar one.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { nearest } from "../../flags/nearest.ts";
import { ApiError } from "../../kubernetes/api-error.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { nearestBudget } from "./explain-budget.ts";
import type { FleetView } from "./fleet-view.ts";
import type { SubjectWord } from "./read-subject.ts";

/** Undefined if there is none, or if the API server refuses a list. */
export async function suggestName(
	word: SubjectWord,
	contexts: readonly KubeContext[],
	view: FleetView,
): Promise<string | undefined> {
	const places = word.context ? [word.context] : contexts;
	if (word.kind === "Budget") {
		const near = await nearestBudget(view, word.rest, places);
		return near && `Did you mean budget/${near.name} -n ${near.namespace}?`;
	}
	const found = await Promise.all(places.map((place) => suggestIn(place, word)));
	const first = found.find((text) => text !== undefined);
	return first && `Did you mean ${first}?`;
}

async function suggestIn({ client, namespace }: KubeContext, { kind, rest }: SubjectWord): Promise<string | undefined> {
	try {
		if (kind === "Node") {
			const nodes = await client.list<V1Node>("/api/v1/nodes");
			const near = nearest(rest, namesOf(nodes));
			return near && `node/${near}`;
		}
		const [elsewhere] = await client.list<V1Pod>("/api/v1/pods", { fieldSelector: `metadata.name=${rest}` });
		if (elsewhere) return `pod/${rest} -n ${elsewhere.metadata?.namespace}`;
		const near = nearest(rest, namesOf(await client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`)));
		return near && `pod/${near} -n ${namespace}`;
	} catch (error) {
		if (error instanceof ApiError) return undefined;
		throw error;
	}
}

function namesOf(objects: readonly (V1Node | V1Pod)[]): readonly string[] {
	return objects.flatMap(({ metadata }) => metadata?.name ?? []);
}
