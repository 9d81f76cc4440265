import { isRecord } from "../../../disruption/record.ts";
import { type ApiObject, type JsonObject, textAt } from "../api-object.ts";

export function podFromTemplate(
	owner: ApiObject,
	metadata: {
		readonly name?: string;
		readonly generateName?: string;
		readonly labels?: Readonly<Record<string, string>>;
	},
): JsonObject {
	const template = isRecord(owner.spec?.["template"]) ? owner.spec["template"] : {};
	const { labels, annotations } = isRecord(template["metadata"]) ? template["metadata"] : {};
	return {
		metadata: {
			...metadata,
			labels: { ...(isRecord(labels) ? labels : {}), ...metadata.labels },
			...(isRecord(annotations) && { annotations }),
			ownerReferences: [ownerReference(owner)],
		},
		spec: isRecord(template["spec"]) ? template["spec"] : {},
	};
}

export function ownerReference({ apiVersion, kind, metadata: { name, uid } }: ApiObject): JsonObject {
	return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export function isActive(pod: ApiObject): boolean {
	return pod.metadata.deletionTimestamp === undefined && !isFinished(pod);
}

export function isFinished(pod: ApiObject): boolean {
	return ["Succeeded", "Failed"].includes(textAt(pod, "status.phase"));
}
