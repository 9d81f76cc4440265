// A user's own objects: a database with two replicas in each cluster, and one budget over all of them.
import { readTimeline } from "../../demo/audit/audit.ts";
import { type AvailabilitySample, findViolations, replayAvailability } from "../../demo/audit/availability.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import type { BareClusters } from "./bare-clusters.ts";
import { podsPath } from "./get-json.ts";
import { eventually } from "./kubectl.ts";

interface PodList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly uid: string };
		readonly spec: { readonly nodeName?: string };
		readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
	}[];
}

export const shop = "shop";
const replicas = 2;
const matchLabels = { app: "db" };

const database = {
	apiVersion: "apps/v1",
	kind: "StatefulSet",
	metadata: { name: "db", namespace: shop },
	spec: {
		replicas,
		serviceName: "db",
		podManagementPolicy: "Parallel",
		selector: { matchLabels },
		template: {
			metadata: { labels: matchLabels },
			spec: { containers: [{ name: "db", image: "example.com/db:1" }] },
		},
	},
};
const budget = {
	apiVersion: "x-pdb.form3.tech/v1alpha1",
	kind: "XPodDisruptionBudget",
	metadata: { name: "db", namespace: shop },
	spec: { maxUnavailable: 1, selector: { matchLabels } },
};

export async function openShop({ kubectl, fleet }: BareClusters, names: readonly string[]): Promise<void> {
	const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: shop } };
	const items = [namespace, database, budget];
	for (const name of names)
		kubectl(name, ["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
	await isOpen(clustersOf(fleet.clusters, names));
}

export async function isOpen(clusters: readonly RunningCluster[]): Promise<void> {
	await eventually(`the shop in ${clusters.map(({ name }) => name).join(", ")}`, async () => {
		const pods = await Promise.all(clusters.map(podsOf));
		return pods.flat().filter(({ isReady }) => isReady).length === replicas * clusters.length;
	});
}

export async function podsOf({ client }: RunningCluster) {
	const { items } = await client.get<PodList>(podsPath(shop, { labelSelector: "app=db" }));
	return items.map(({ metadata, spec, status }) => ({
		name: metadata.name,
		uid: metadata.uid,
		node: spec.nodeName ?? "",
		isReady: status.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true,
	}));
}

export function clustersOf(clusters: readonly RunningCluster[], names: readonly string[]): readonly RunningCluster[] {
	return clusters.filter(({ name }) => names.includes(name));
}

/**
 * Returns the moments at which too many pods were down over all clusters, from their audit logs. `since` is in milliseconds, as from
 * Date.now().
 */
export async function violations(
	clusters: readonly RunningCluster[],
	since = 0,
): Promise<readonly AvailabilitySample[]> {
	const options = { namespace: shop, matchLabels, expected: replicas * clusters.length };
	const samples = replayAvailability(await readTimeline(clusters), options).filter(({ at }) => at > since * 1_000);
	return findViolations(samples, { maxUnavailable: 1 });
}
