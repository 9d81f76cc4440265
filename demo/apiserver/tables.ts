// Server-side printing: the columns of `kubectl get`.
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, listAt, numberAt, textAt, valueAt } from "./api-object.ts";
import type { ResourceType } from "./resource-types.ts";

interface Column {
	readonly name: string;
	readonly cell: (object: ApiObject) => unknown;
	readonly wide?: boolean;
}

const replicas = (object: ApiObject): number => numberAt(object, "spec.replicas") ?? 0;
const status = (object: ApiObject, field: string): number => numberAt(object, `status.${field}`) ?? 0;

const columns: Readonly<Record<string, readonly Column[]>> = {
	pods: [
		{ name: "Ready", cell: readyContainers },
		{ name: "Status", cell: podStatus },
		{ name: "Restarts", cell: restarts },
		{ name: "Age", cell: age },
		{ name: "IP", cell: (pod) => textAt(pod, "status.podIP") || "<none>", wide: true },
		{ name: "Node", cell: (pod) => textAt(pod, "spec.nodeName") || "<none>", wide: true },
	],
	nodes: [
		{ name: "Status", cell: nodeStatus },
		{ name: "Roles", cell: () => "<none>" },
		{ name: "Age", cell: age },
		{ name: "Version", cell: (node) => textAt(node, "status.nodeInfo.kubeletVersion") },
	],
	namespaces: [
		{ name: "Status", cell: (namespace) => textAt(namespace, "status.phase") },
		{ name: "Age", cell: age },
	],
	"statefulsets.apps": [
		{ name: "Ready", cell: (set) => `${status(set, "readyReplicas")}/${replicas(set)}` },
		{ name: "Age", cell: age },
	],
	"deployments.apps": [
		{ name: "Ready", cell: (deployment) => `${status(deployment, "readyReplicas")}/${replicas(deployment)}` },
		{ name: "Up-to-date", cell: (deployment) => status(deployment, "updatedReplicas") },
		{ name: "Available", cell: (deployment) => status(deployment, "availableReplicas") },
		{ name: "Age", cell: age },
	],
	"replicasets.apps": [
		{ name: "Desired", cell: replicas },
		{ name: "Current", cell: (set) => status(set, "replicas") },
		{ name: "Ready", cell: (set) => status(set, "readyReplicas") },
		{ name: "Age", cell: age },
	],
	"poddisruptionbudgets.policy": [
		{ name: "Min Available", cell: (budget) => valueAt(budget, "spec.minAvailable") ?? "N/A" },
		{ name: "Max Unavailable", cell: (budget) => valueAt(budget, "spec.maxUnavailable") ?? "N/A" },
		{ name: "Allowed Disruptions", cell: (budget) => status(budget, "disruptionsAllowed") },
		{ name: "Age", cell: age },
	],
	"leases.coordination.k8s.io": [
		{ name: "Holder", cell: (lease) => textAt(lease, "spec.holderIdentity") },
		{ name: "Age", cell: age },
	],
};

export function tableOf(type: ResourceType, objects: readonly ApiObject[], metadata: object): object {
	const own = columnsOf(type);
	return {
		kind: "Table",
		apiVersion: "meta.k8s.io/v1",
		metadata,
		columnDefinitions: [
			{ name: "Name", type: "string", format: "name", description: "", priority: 0 },
			...own.map(({ name, wide }) => ({
				name,
				type: "string",
				format: "",
				description: "",
				priority: wide === true ? 1 : 0,
			})),
		],
		rows: objects.map((object) => ({
			cells: [object.metadata.name, ...own.map(({ cell }) => cell(object))],
			object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
		})),
	};
}

function columnsOf(type: ResourceType): readonly Column[] {
	if (!type.custom) return columns[type.key] ?? [{ name: "Age", cell: age }];
	return type.custom.columns.map((column) => ({
		name: column.name,
		cell: (object) => (column.type === "date" ? age(object) : valueAt(object, column.path)),
	}));
}

function readyContainers(pod: ApiObject): string {
	const ready = listAt(pod, "status.containerStatuses").filter((container) => container["ready"] === true);
	return `${ready.length}/${listAt(pod, "spec.containers").length}`;
}

function podStatus(pod: ApiObject): string {
	return pod.metadata.deletionTimestamp === undefined ? textAt(pod, "status.phase") : "Terminating";
}

function restarts(pod: ApiObject): number {
	const counts = listAt(pod, "status.containerStatuses").map((container) => Number(container["restartCount"] ?? 0));
	return counts.reduce((sum, count) => sum + count, 0);
}

function nodeStatus(node: ApiObject): string {
	const ready = listAt(node, "status.conditions").find(({ type }) => type === "Ready");
	const words = [ready?.["status"] === "True" ? "Ready" : "NotReady"];
	if (isRecord(node.spec) && node.spec["unschedulable"] === true) words.push("SchedulingDisabled");
	return words.join(",");
}

function age({ metadata }: ApiObject): string {
	const seconds = Math.max(0, Math.round((Date.now() - Date.parse(metadata.creationTimestamp)) / 1_000));
	if (seconds < 120) return `${seconds}s`;
	if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
	if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
	return `${Math.floor(seconds / 86_400)}d`;
}
