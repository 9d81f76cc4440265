// Waits until terminating pods of earlier databases are gone, for tests that judge all pods of a node.
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import type { Database } from "./database.ts";
import { getJson, podsPath } from "./get-json.ts";
import { eventually } from "./kubectl.ts";

interface PodList {
	readonly items: readonly { readonly metadata: { readonly namespace: string } }[];
}

export async function untilAlone({ namespace }: Database): Promise<void> {
	await eventually("the pods of earlier databases to be gone", async () => {
		const lists = await Promise.all(
			sharedFleet().contexts.map((context) =>
				getJson<PodList>(context, podsPath(undefined, { labelSelector: "app=db" })),
			),
		);
		return lists.every(({ items }) => items.every(({ metadata }) => metadata.namespace === namespace));
	});
}
