// What runs in the fleet during a soak, and the budgets that must hold for it.
import type { RunningCluster } from "../controlplane/cluster.ts";
import { applyPatch } from "../controlplane/api-client.ts";

export const namespace = "soak";

/** Replicas are for each cluster, the bound is for all of them together. */
export interface Workload {
	readonly name: string;
	readonly kind: "StatefulSet" | "Deployment";
	readonly replicas: number;
	readonly budget: { readonly maxUnavailable: number } | { readonly minAvailable: number };
	/** Whether others take its pods too: evictions past us, and its controller when it is scaled down. */
	readonly isDisturbed: boolean;
}

export const database: Workload = {
	name: "db",
	kind: "StatefulSet",
	replicas: 2,
	budget: { maxUnavailable: 1 },
	isDisturbed: false,
};
/** 12 to 15 pods, so that there is room for one eviction at the least. */
export const web: Workload = {
	name: "web",
	kind: "Deployment",
	replicas: 4,
	budget: { minAvailable: 9 },
	isDisturbed: true,
};
export const workloads = [database, web] as const;

/** Makes namespace, workloads and budgets in every cluster. */
export async function createWorkloads(clusters: readonly RunningCluster[]): Promise<void> {
	for (const { client } of clusters) {
		const apply = (path: string, object: object) =>
			client.send("PATCH", `${path}?fieldManager=soak&force=true`, object, applyPatch);
		await apply(`/api/v1/namespaces/${namespace}`, {
			apiVersion: "v1",
			kind: "Namespace",
			metadata: { name: namespace },
		});
		for (const { name, kind, replicas, budget } of workloads) {
			const selector = { matchLabels: { app: name } };
			const spread = {
				maxSkew: 1,
				topologyKey: "kubernetes.io/hostname",
				whenUnsatisfiable: "ScheduleAnyway",
				labelSelector: selector,
			};
			await apply(workloadPath({ name, kind }), {
				apiVersion: "apps/v1",
				kind,
				metadata: { name, namespace },
				spec: {
					replicas,
					selector,
					...(kind === "StatefulSet" && { serviceName: name, podManagementPolicy: "Parallel" }),
					template: {
						metadata: { labels: { app: name } },
						spec: {
							containers: [{ name, image: `example.com/${name}:1` }],
							topologySpreadConstraints: [spread],
						},
					},
				},
			});
			await apply(`/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets/${name}`, {
				apiVersion: "x-pdb.form3.tech/v1alpha1",
				kind: "XPodDisruptionBudget",
				metadata: { name, namespace },
				spec: { selector, ...budget },
			});
		}
	}
}

export async function scaleWorkload({ client }: RunningCluster, workload: Workload, replicas: number): Promise<void> {
	const body = { spec: { replicas } };
	await client.send("PATCH", `${workloadPath(workload)}/scale`, body, "application/merge-patch+json");
}

export interface SoakPod {
	readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
	readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The pods that are ready and not on their way out. */
export async function healthyPods({ client }: RunningCluster, workload: Workload): Promise<readonly SoakPod[]> {
	const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${workload.name}`;
	const { items } = await client.get<{ readonly items: readonly SoakPod[] }>(path);
	return items.filter(
		({ metadata, status }) =>
			metadata.deletionTimestamp === undefined &&
			status.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") === true,
	);
}

function workloadPath({ name, kind }: Pick<Workload, "name" | "kind">): string {
	return `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
}
