// Fills in the defaults of new objects, and applies the fields that a write may change.
import { randomBytes, randomUUID } from "node:crypto";
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, type JsonObject, type Metadata, textAt, timestamp, valueAt } from "./api-object.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";

const defaultGraceSeconds = 30;
// No vowels, as in apimachinery, so that names contain no words.
const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** Appends five random characters: "db-" becomes "db-x2xqz". */
export function generateName(prefix: string): string {
	return prefix + [...randomBytes(5)].map((byte) => nameAlphabet[byte % nameAlphabet.length]).join("");
}

/** Builds a new object from what a client sent. The store sets its resourceVersion. */
export function created(
	type: ResourceType,
	sent: JsonObject,
	{ namespace, name }: { namespace: string; name: string },
) {
	const asked = isRecord(sent["metadata"]) ? sent["metadata"] : {};
	const { labels, annotations, ownerReferences, finalizers, generateName: prefix } = asked as Partial<Metadata>;
	const metadata: Metadata = {
		name,
		...(prefix !== undefined && { generateName: prefix }),
		...(type.namespaced && { namespace }),
		uid: randomUUID(),
		resourceVersion: "",
		...(hasGeneration(type) && { generation: 1 }),
		creationTimestamp: timestamp(),
		...(labels && { labels }),
		...(annotations && { annotations }),
		...(ownerReferences && { ownerReferences }),
		...(finalizers && finalizers.length > 0 && { finalizers }),
	};
	const { status, ...rest } = sent;
	const object: ApiObject = {
		...rest,
		apiVersion: apiVersionOf(type),
		kind: type.kind,
		metadata,
		// A kind with a status subresource takes no status at creation.
		...(status !== undefined && !type.subresources.includes("status") && { status: status as JsonObject }),
	};
	return withDefaults(type, object);
}

function withDefaults(type: ResourceType, object: ApiObject): ApiObject {
	const spec: JsonObject = object.spec ?? {};
	switch (type.key) {
		case "pods":
			return { ...object, spec: podSpec(spec), status: { phase: "Pending", qosClass: "BestEffort" } };
		case "deployments.apps":
			return { ...object, spec: { replicas: 1, ...spec, template: podTemplate(spec) }, status: {} };
		case "statefulsets.apps":
			return {
				...object,
				spec: {
					replicas: 1,
					updateStrategy: { type: "RollingUpdate" },
					...spec,
					template: podTemplate(spec),
				},
				status: { replicas: 0 },
			};
		case "replicasets.apps":
			return { ...object, spec: { replicas: 1, ...spec, template: podTemplate(spec) }, status: { replicas: 0 } };
		case "daemonsets.apps":
			return { ...object, spec: { ...spec, template: podTemplate(spec) }, status: {} };
		case "replicationcontrollers":
			return { ...object, spec: { replicas: 1, ...spec }, status: { replicas: 0 } };
		case "jobs.batch":
			return { ...object, spec: { parallelism: 1, completions: 1, ...spec }, status: {} };
		case "namespaces":
			return { ...object, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
		case "poddisruptionbudgets.policy":
			return {
				...object,
				status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
			};
		case "nodes":
			return { ...object, spec, status: {} };
		default:
			return object;
	}
}

function podTemplate(spec: JsonObject): JsonObject {
	const template = isRecord(spec["template"]) ? spec["template"] : {};
	return { ...template, spec: podSpec(isRecord(template["spec"]) ? template["spec"] : {}) };
}

function podSpec(spec: JsonObject): JsonObject {
	return {
		restartPolicy: "Always",
		terminationGracePeriodSeconds: defaultGraceSeconds,
		dnsPolicy: "ClusterFirst",
		serviceAccountName: "default",
		schedulerName: "default-scheduler",
		...spec,
	};
}

function hasGeneration(type: ResourceType): boolean {
	return (
		["pods", "poddisruptionbudgets.policy", "jobs.batch", "replicationcontrollers"].includes(type.key) ||
		type.group === "apps" ||
		type.custom !== undefined
	);
}

/** Returns `old` after a write to the main resource or a subresource. The metadata that identifies the object never changes. */
export function updated(
	type: ResourceType,
	{ old, wanted, subresource }: { readonly old: ApiObject; readonly wanted: JsonObject; readonly subresource: string },
): ApiObject {
	const hasStatus = type.subresources.includes("status");
	const asked = isRecord(wanted["metadata"]) ? (wanted["metadata"] as Partial<Metadata>) : {};
	const { labels, annotations, ownerReferences, finalizers } = asked;
	const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, ...fixed } = old.metadata;
	const metadata: Metadata = {
		...fixed,
		...(labels && Object.keys(labels).length > 0 && { labels }),
		...(annotations && Object.keys(annotations).length > 0 && { annotations }),
		...(ownerReferences && ownerReferences.length > 0 && { ownerReferences }),
		...(finalizers && finalizers.length > 0 && { finalizers }),
	};
	if (subresource === "status") {
		// A status write changes metadata only for pods.
		const status = isRecord(wanted["status"]) ? { status: wanted["status"] } : {};
		return { ...old, ...status, metadata: type.key === "pods" ? metadata : old.metadata };
	}
	const { metadata: _metadata, status: wantedStatus, ...fields } = wanted;
	const status = hasStatus ? old.status : wantedStatus;
	const next: ApiObject = {
		...fields,
		apiVersion: old.apiVersion,
		kind: old.kind,
		metadata,
		...(status !== undefined && { status: status as JsonObject }),
	};
	const isNewSpec = JSON.stringify(next.spec) !== JSON.stringify(old.spec);
	if (!isNewSpec || old.metadata.generation === undefined) return next;
	return { ...next, metadata: { ...metadata, generation: old.metadata.generation + 1 } };
}

export function graceSeconds(pod: ApiObject, asked: number | undefined): number {
	const finished = ["Succeeded", "Failed"].includes(textAt(pod, "status.phase"));
	// A pod without a node was never started.
	if (textAt(pod, "spec.nodeName") === "" || finished) return 0;
	const own = valueAt(pod, "spec.terminationGracePeriodSeconds");
	return asked ?? (typeof own === "number" ? own : defaultGraceSeconds);
}
