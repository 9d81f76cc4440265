// Reads an object for the key `y` of a screen, with the user's own permissions.
import { stringify } from "yaml";
import { budgetApi } from "../../disruption/budget/budget.ts";
import { isRecord } from "../../disruption/record.ts";
import { errorText, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { ObjectName } from "../ui/shown-object.ts";

/** Returns a YAML document or an error for each context. Never rejects, unless there is a bug. */
export async function objectForScreen(
	object: ObjectName,
	contexts: readonly KubeContext[],
): Promise<readonly string[]> {
	const asked = contexts.filter(({ name }) => object.context === undefined || name === object.context);
	if (asked.length === 0) return [`no context of this run leads to cluster ${object.context}`];
	const documents = await Promise.all(
		asked.map(async (context): Promise<readonly string[]> => {
			const title = asked.length > 1 || contexts.length > 1 ? [`# ${context.name}`] : [];
			try {
				const found = await context.client.get<unknown>(pathOf(object));
				return [...title, ...stringify(withoutManagers(found), { lineWidth: 0 }).trimEnd().split("\n")];
			} catch (error) {
				if (!(error instanceof Error)) throw error;
				return [...title, isNotFound(error) ? "not found" : `error: ${errorText(error)}`];
			}
		}),
	);
	return documents.flatMap((lines, at) => (at === 0 ? lines : ["---", ...lines]));
}

function pathOf({ kind, namespace = "", name }: ObjectName): string {
	const last = encodeURIComponent(name);
	const place = `namespaces/${encodeURIComponent(namespace)}`;
	switch (kind) {
		case "node":
			return `/api/v1/nodes/${last}`;
		case "pod":
			return `/api/v1/${place}/pods/${last}`;
		case "budget":
			return `/apis/${budgetApi.group}/${budgetApi.version}/${place}/${budgetApi.resource}/${last}`;
	}
}

/** kubectl get -o yaml also leaves out managedFields. */
function withoutManagers(object: unknown): unknown {
	if (!isRecord(object) || !isRecord(object["metadata"])) return object;
	const { managedFields: _, ...metadata } = object["metadata"];
	return { ...object, metadata };
}
