// Reads what the agent keeps of a workload: its identity and version, whether a Deployment owns it, and the labels of its pod template. How
// many pods the workload wants is kept for people, who may watch thousands of budgets. A count reads it by name.
import { type ControllerReference, controllerOf } from "../../disruption/budget/pod.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { groupOf } from "../../disruption/lease/remembered-controllers.ts";
import { isResourceVersion } from "../../disruption/resource-version.ts";
import type { ScaleAnswer } from "./scale-answer.ts";
import { workloadScale } from "./workload-scale.ts";

export interface WorkloadRecord extends ControllerReference {
	readonly namespace: string;
	readonly resourceVersion: string;
	/** Labels of the pod template; empty if a Deployment owns the workload. */
	readonly labels: Readonly<Record<string, string>>;
	/** Whether a Deployment owns the workload, so that the Deployment's scale counts instead. */
	readonly isOfDeployment: boolean;
	/** How many pods the workload wants, for people alone. Left out if the object does not say it. */
	readonly scale?: ScaleAnswer;
}

export interface WorkloadKind {
	readonly apiVersion: string;
	readonly kind: string;
	readonly plural: string;
	readonly prefix: string;
}

/** Kubernetes' own kinds that create pods and maintain their number. */
export const workloadKinds: readonly WorkloadKind[] = [
	{ apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", prefix: "/apis/apps/v1" },
	{ apiVersion: "apps/v1", kind: "StatefulSet", plural: "statefulsets", prefix: "/apis/apps/v1" },
	{ apiVersion: "apps/v1", kind: "DaemonSet", plural: "daemonsets", prefix: "/apis/apps/v1" },
	{ apiVersion: "apps/v1", kind: "ReplicaSet", plural: "replicasets", prefix: "/apis/apps/v1" },
	{ apiVersion: "v1", kind: "ReplicationController", plural: "replicationcontrollers", prefix: "/api/v1" },
];

/** Accepts any version of the kind's group. */
export function findWorkloadKind({ apiVersion, kind }: Pick<ControllerReference, "apiVersion" | "kind">) {
	return workloadKinds.find((each) => each.kind === kind && groupOf(each.apiVersion) === groupOf(apiVersion));
}

/** If a workload's owner is no Deployment, the workload's own scale counts, as in getPodReplicaSet of pkg/controller/disruption. */
export function isDeployment(owner: Pick<ControllerReference, "apiVersion" | "kind"> | undefined): boolean {
	return owner?.kind === "Deployment" && groupOf(owner.apiVersion) === "apps";
}

const noLabels: Readonly<Record<string, string>> = {};
/** With more different texts than this, the cache is cleared. */
const maxShared = 20_000;

/** Returns a projection that keeps one copy of texts that many objects have in common. It throws TypeError on an unreadable object. */
export function createWorkloadProjection({ apiVersion, kind }: WorkloadKind): (object: unknown) => WorkloadRecord {
	const texts = new Map<string, string>();
	const share = (text: string): string => {
		const known = texts.get(text);
		if (known !== undefined) return known;
		if (texts.size >= maxShared) texts.clear();
		texts.set(text, text);
		return text;
	};
	const scaleOf = (object: unknown): ScaleAnswer | undefined => {
		try {
			const scale = workloadScale(kind, object);
			if (scale.kind !== "replicas" || !scale.ownedBy) return scale;
			const { name, uid, ...owner } = scale.ownedBy;
			return { ...scale, ownedBy: { ...owner, name: share(name), uid: share(uid) } };
		} catch {
			return undefined;
		}
	};
	return (object) => {
		const read = workloadRecord(object, { apiVersion, kind });
		const labels = Object.entries(read.labels).map(([key, value]) => [share(key), share(value)] as const);
		const scale = scaleOf(object);
		return {
			...read,
			...(scale && { scale }),
			namespace: share(read.namespace),
			labels: labels.length === 0 ? noLabels : Object.fromEntries(labels),
		};
	};
}

function workloadRecord(
	object: unknown,
	{ apiVersion, kind }: Pick<WorkloadKind, "apiVersion" | "kind">,
): WorkloadRecord {
	const metadata = partOf(object, "metadata");
	const name = metadata["name"];
	const unreadable = (what: string): TypeError => new TypeError(`cannot read ${kind} ${quote(name)}: ${what}`);
	const text = (field: string): string => {
		const value = metadata[field];
		if (typeof value !== "string" || value === "") throw unreadable(`its metadata.${field} is ${quote(value)}`);
		return value;
	};
	const resourceVersion = text("resourceVersion");
	if (!isResourceVersion(resourceVersion))
		throw unreadable(`its metadata.resourceVersion is ${quote(resourceVersion)}`);
	const isOfDeployment = isDeployment(controllerOf(object, unreadable));
	return {
		apiVersion,
		kind,
		namespace: text("namespace"),
		name: text("name"),
		uid: text("uid"),
		resourceVersion,
		labels: isOfDeployment ? noLabels : templateLabels(object, unreadable),
		isOfDeployment,
	};
}

/** A template without labels is valid; an object without a template is not. */
function templateLabels(object: unknown, unreadable: (what: string) => TypeError): Readonly<Record<string, string>> {
	const template = partOf(object, "spec")["template"];
	if (!isRecord(template)) throw unreadable(`its spec.template is ${quote(template)}`);
	const metadata = template["metadata"] ?? {};
	const labels = isRecord(metadata) ? (metadata["labels"] ?? {}) : undefined;
	if (!isRecord(labels)) throw unreadable("its spec.template.metadata.labels cannot be read");
	const read: Record<string, string> = {};
	for (const [key, value] of Object.entries(labels)) {
		if (typeof value !== "string") throw unreadable(`label ${quote(key)} of its template is ${quote(value)}`);
		read[key] = value;
	}
	return read;
}

function partOf(object: unknown, field: "metadata" | "spec"): Readonly<Record<string, unknown>> {
	const value = isRecord(object) ? object[field] : undefined;
	if (!isRecord(value)) throw new TypeError(`cannot read workload: its ${field} is ${quote(value)}`);
	return value;
}
