// Serves the scale subresource of every kind that has one.
import { isRecord } from "../../disruption/record.ts";
import { numberAt, textAt, valueAt } from "./api-object.ts";
import { type ApiAnswer, type ApiRequest, sentObject } from "./api-request.ts";
import type { ObjectStore } from "./object-store.ts";
import { patched } from "./patch.ts";
import { read } from "./reads.ts";
import { update, withValueAt } from "./writes.ts";

export function scale(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const { type, verb, contentType, body } = request;
	const path = type.replicasPath ?? "";
	if (verb === "get") return { code: 200, body: scaleOf(store, request, path) };
	const current = scaleOf(store, request, path);
	const wanted = verb === "patch" ? patched(current, { contentType, body, isCustom: true }) : sentObject(request);
	const object = withValueAt(read(store, request), path, numberAt(wanted, "spec.replicas") ?? 0);
	const sentVersion = verb === "update" ? textAt(wanted, "metadata.resourceVersion") : "";
	const metadata = {
		...(isRecord(object["metadata"]) && object["metadata"]),
		...(sentVersion !== "" && { resourceVersion: sentVersion }),
	};
	update(store, { ...request, subresource: "", body: { ...object, metadata } });
	return { code: 200, body: scaleOf(store, request, path) };
}

function scaleOf(store: ObjectStore, request: ApiRequest, path: string) {
	const object = read(store, request);
	const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
	const labels = valueAt(object, "spec.selector.matchLabels");
	const selector = isRecord(labels) ? Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`) : [];
	const replicas = valueAt(object, path);
	return {
		kind: "Scale",
		apiVersion: "autoscaling/v1",
		metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
		// A 0 is omitted, as in Go's JSON.
		spec: typeof replicas === "number" && replicas > 0 ? { replicas } : {},
		status: {
			replicas: numberAt(object, "status.replicas") ?? 0,
			...(selector.length > 0 && { selector: selector.join(",") }),
		},
	};
}
