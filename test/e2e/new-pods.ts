// Controls when a database's new pods become ready or find a node. Fixed times would fail on a busy machine.
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import type { Database } from "./database.ts";
import { getJson } from "./get-json.ts";
import { eventually, kubectl } from "./kubectl.ts";

interface StatefulSet {
	readonly metadata: { readonly generation: number };
	readonly status: { readonly observedGeneration?: number };
}

/** Resolves when the controller has seen the new template, from which it then creates pods. Existing pods stay. */
async function changeTemplate(context: string, { namespace }: Database, template: object): Promise<void> {
	const patch = JSON.stringify({ spec: { updateStrategy: { type: "OnDelete", rollingUpdate: null }, template } });
	await kubectl(context, ["patch", "statefulset", "db", "-n", namespace, "--type=merge", "-p", patch]);
	await eventually(`the controller of the database in ${context} to see its template`, async () => {
		const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/db`;
		const { metadata, status } = await getJson<StatefulSet>(context, path);
		return (status.observedGeneration ?? 0) >= metadata.generation;
	});
}

/** Sets whether new pods become ready by themselves. */
export async function letNewPodsBeReady(database: Database, ready: boolean): Promise<void> {
	const template = { metadata: { annotations: { "bench/ready": ready ? null : "false" } } };
	await Promise.all(sharedFleet().contexts.map((context) => changeTemplate(context, database, template)));
}

/** Lets the existing pods become ready. Returns false if one was deleted meanwhile, and must then be called again. */
export async function letPodsBeReady({ namespace }: Database): Promise<boolean> {
	const args = ["annotate", "pods", "-l", "app=db", "-n", namespace, "bench/ready-"];
	try {
		await Promise.all(sharedFleet().contexts.map(async (context) => await kubectl(context, args)));
		return true;
	} catch (error) {
		if (error instanceof Error && error.message.includes("(NotFound)")) return false;
		throw error;
	}
}

export async function letNodesTakeNewPods(context: string, database: Database, take: boolean): Promise<void> {
	const nodeSelector = { "kubernetes.io/hostname": take ? null : "none" };
	await changeTemplate(context, database, { spec: { nodeSelector } });
}
