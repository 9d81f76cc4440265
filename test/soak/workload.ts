// The workloads of a soak, and the budgets that must hold for them.
import { applyPatch } from "../../demo/machine/api-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";

export const namespace = "soak";

/** `replicas` is per cluster. The bound is for all clusters together. */
export interface Workload {
	readonly name: string;
	readonly kind: "StatefulSet" | "Deployment";
	readonly replicas: number;
	readonly budget: { readonly maxUnavailable: number } | { readonly minAvailable: number };
	/** Whether others also take its pods: evictions without the plugin, and its controller when it scales down. */
	readonly isDisturbed: boolean;
}

export const database: Workload = {
	name: "db",
	kind: "StatefulSet",
	replicas: 2,
	budget: { maxUnavailable: 1 },
	isDisturbed: false,
};
/** 12 to 15 pods in all clusters, so at least three may be down. */
export const web: Workload = {
	name: "web",
	kind: "Deployment",
	replicas: 4,
	budget: { minAvailable: 9 },
	isDisturbed: true,
};
/** One of its pods is the primary, and another one often becomes it, as in a database that fails over. */
export const elected: Workload = {
	name: "pg",
	kind: "StatefulSet",
	replicas: 1,
	budget: { maxUnavailable: 1 },
	isDisturbed: false,
};
export const workloads = [database, web, elected] as const;

export const roleLabel = "role";
export const primary = "primary";
/** Never lets a primary go: a run must wait until its pod is no longer the primary. */
const primaryBudget = {
	name: "pg-primary",
	selector: { matchLabels: { app: elected.name, [roleLabel]: primary } },
	bound: { maxUnavailable: 0 },
};

export async function createWorkloads(clusters: readonly RunningCluster[]): Promise<void> {
	for (const { client } of clusters) {
		const apply = (path: string, object: object) =>
			client.send("PATCH", `${path}?fieldManager=soak&force=true`, object, applyPatch);
		const applyBudget = (name: string, spec: object) =>
			apply(`/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets/${name}`, {
				apiVersion: "x-pdb.form3.tech/v1alpha1",
				kind: "XPodDisruptionBudget",
				metadata: { name, namespace },
				spec,
			});
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
			await applyBudget(name, { selector, ...budget });
		}
		await applyBudget(primaryBudget.name, { selector: primaryBudget.selector, ...primaryBudget.bound });
	}
}

export async function scaleWorkload({ client }: RunningCluster, workload: Workload, replicas: number): Promise<void> {
	const body = { spec: { replicas } };
	await client.send("PATCH", `${workloadPath(workload)}/scale`, body, "application/merge-patch+json");
}

/** The uid makes the API server refuse another pod of this name. */
export async function setRole({ client }: RunningCluster, pod: SoakPod, role: string): Promise<void> {
	const { name, uid } = pod.metadata;
	const body = { metadata: { uid, labels: { [roleLabel]: role } } };
	await client.send("PATCH", `/api/v1/namespaces/${namespace}/pods/${name}`, body, "application/merge-patch+json");
}

export interface SoakPod {
	readonly metadata: {
		readonly name: string;
		readonly uid: string;
		readonly deletionTimestamp?: string;
		readonly labels?: Readonly<Record<string, string>>;
	};
	readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

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
