// Reads and restores the nodes of the shared fleet, as the administrator.
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { getJson } from "./get-json.ts";
import { kubectl } from "./kubectl.ts";

const mark = "xpdb.form3.tech/operation";

interface NodeObject {
	readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
	readonly spec: { readonly unschedulable?: boolean };
}

/** `path` is CONTEXT/NODE, with an administrator's or operator's context. */
async function readNode(path: string): Promise<NodeObject> {
	const [context = "", node = ""] = path.split("/");
	return getJson<NodeObject>(context.replace("-operator", ""), `/api/v1/nodes/${node}`);
}

export async function isCordoned(path: string): Promise<boolean> {
	return (await readNode(path)).spec.unschedulable === true;
}

/** Returns the annotation in which a drain records its operation. */
export async function markOf(path: string): Promise<string | undefined> {
	return (await readNode(path)).metadata.annotations?.[mark];
}

/** Uncordons every node and removes the annotations of drains. */
export async function uncordonAll(): Promise<void> {
	await Promise.all(
		sharedFleet().contexts.map(async (context) => {
			const { items } = await getJson<{ readonly items: readonly NodeObject[] }>(context, "/api/v1/nodes");
			const cordoned = items.filter(({ spec }) => spec.unschedulable).map(({ metadata }) => metadata.name);
			if (cordoned.length > 0) await kubectl(context, ["uncordon", ...cordoned]);
			const marked = items.filter(({ metadata }) => metadata.annotations?.[mark] !== undefined);
			const names = marked.map(({ metadata }) => metadata.name);
			if (names.length > 0) await kubectl(context, ["annotate", "nodes", ...names, `${mark}-`]);
		}),
	);
}
