// The nodes of the shared fleet, as the administrator sees them.
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { getJson, kubectl } from "./kubectl.ts";

interface NodeObject {
	readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
	readonly spec: { readonly unschedulable?: boolean };
}

/** `path`: CONTEXT/NODE of an operator's context. */
async function readNode(path: string): Promise<NodeObject> {
	const [context = "", node = ""] = path.split("/");
	return getJson<NodeObject>(context.replace("-operator", ""), ["node", node]);
}

export async function isCordoned(path: string): Promise<boolean> {
	return (await readNode(path)).spec.unschedulable === true;
}

/** The annotation that drains leave. */
export async function markOf(path: string): Promise<string | undefined> {
	return (await readNode(path)).metadata.annotations?.["xpdb.form3.tech/operation"];
}

/** Every node is in service again, and nothing of a drain is on it. */
export async function uncordonAll(): Promise<void> {
	for (const context of sharedFleet().contexts) {
		const nodes = await kubectl(context, ["get", "nodes", "-o", "name"]);
		await kubectl(context, ["uncordon", ...nodes.trim().split("\n")]);
		await kubectl(context, ["annotate", "nodes", "--all", "xpdb.form3.tech/operation-"]);
	}
}
