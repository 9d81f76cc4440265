// Reads the fields of a pod from which everything is counted.
import { type PodStatus, podStatus } from "./pod-status.ts";
import { quote } from "../quote.ts";
import { isRecord } from "../record.ts";
import { isResourceVersion } from "../resource-version.ts";

/** The owner that controls a pod or another object, by its ownerReference with `controller: true`. */
export interface ControllerReference {
	readonly apiVersion: string;
	readonly kind: string;
	readonly name: string;
	readonly uid: string;
}

export interface PodRecord {
	readonly uid: string;
	readonly name: string;
	readonly namespace: string;
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly node: string;
	readonly controller?: ControllerReference;
	readonly ready: boolean;
	readonly terminating: boolean;
	/** Phase Succeeded or Failed. */
	readonly finished: boolean;
	readonly preActivities: readonly string[];
	/** For people, if the pod is terminating or not ready. Left out if it is finished. */
	readonly status?: PodStatus;
}

/** The prefix of annotations that declare a pre-activity. The name follows it. */
export const preActivityPrefix = "pre-activity.xpdb.form3.tech/";

/**
 * Reads a pod as the API server sent it. Throws TypeError if any field that decisions need is invalid: a pod that is misread as terminating
 * would be evicted without being counted.
 */
export function podRecord(pod: unknown): PodRecord {
	const metadata = fieldsOf(pod, "metadata");
	const garbled = (what: string): TypeError => new TypeError(`cannot read pod ${quote(metadata["name"])}: ${what}`);
	const status = fieldsOf(pod, "status", garbled);
	const needed = (field: string): string => {
		const value = metadata[field];
		if (typeof value !== "string" || value === "") throw garbled(`its metadata.${field} is ${quote(value)}`);
		return value;
	};
	const resourceVersion = needed("resourceVersion");
	if (!isResourceVersion(resourceVersion)) throw garbled(`its metadata.resourceVersion is ${quote(resourceVersion)}`);
	const deleted = optionalText(metadata["deletionTimestamp"], "metadata.deletionTimestamp", garbled);
	const phase = optionalText(status["phase"], "status.phase", garbled);
	const controller = controllerOf(pod, garbled);
	const conditions = listOf(status, "conditions", "status", garbled);
	const ready = conditions.some(({ type, status }) => type === "Ready" && status === "True");
	const terminating = deleted !== undefined;
	const finished = phase === "Succeeded" || phase === "Failed";
	return {
		uid: needed("uid"),
		name: needed("name"),
		namespace: needed("namespace"),
		resourceVersion,
		labels: labelsOf(fieldsOf(metadata, "labels", garbled), garbled),
		node: optionalText(fieldsOf(pod, "spec", garbled)["nodeName"], "spec.nodeName", garbled) ?? "",
		...(controller && { controller }),
		ready,
		terminating,
		finished,
		preActivities: preActivitiesOf(fieldsOf(metadata, "annotations", garbled)),
		...((terminating || !ready) && !finished && { status: podStatus(pod) }),
	};
}

export function preActivitiesOf(annotations: Readonly<Record<string, unknown>>): readonly string[] {
	return Object.keys(annotations)
		.filter((key) => key.startsWith(preActivityPrefix))
		.map((key) => key.slice(preActivityPrefix.length));
}

type Fields = Readonly<Record<string, unknown>>;
type Garbled = (what: string) => TypeError;

const noPod: Garbled = (what) => new TypeError(`cannot read pod: ${what}`);

function garbledObject(object: unknown): Garbled {
	const metadata = isRecord(object) ? object["metadata"] : undefined;
	const name = isRecord(metadata) ? ` ${quote(metadata["name"])}` : "";
	return (what) => new TypeError(`cannot read object${name}: ${what}`);
}

/** Reads a missing field as empty. A missing `metadata` is an error, because every object has it. */
function fieldsOf(object: unknown, field: string, garbled: Garbled = noPod): Fields {
	const value = isRecord(object) ? (object[field] ?? undefined) : undefined;
	if (value === undefined && field !== "metadata") return {};
	if (!isRecord(value)) throw garbled(`its ${field} is ${quote(value)}`);
	return value;
}

function listOf(fields: Fields, field: string, path: string, garbled: Garbled): readonly Fields[] {
	const list: unknown = fields[field] ?? [];
	if (!Array.isArray(list) || !list.every(isRecord)) throw garbled(`its ${path}.${field} is not a list of objects`);
	return list;
}

/** Reads a missing text as undefined. An empty text is an error, because the API server omits empty texts. */
function optionalText(value: unknown, path: string, garbled: Garbled): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value !== "string" || value === "") throw garbled(`its ${path} is ${quote(value)}`);
	return value;
}

function labelsOf(fields: Fields, garbled: Garbled): Readonly<Record<string, string>> {
	const labels: Record<string, string> = {};
	for (const [key, value] of Object.entries(fields)) {
		if (typeof value !== "string") throw garbled(`its label ${quote(key)} is ${quote(value)}`);
		labels[key] = value;
	}
	return labels;
}

/**
 * Returns undefined if no owner controls the object. Throws the error of `garbled` if a reference cannot be read. A pod that is misread as
 * one without a controller would be counted alone, or evicted under a drain's --force.
 */
export function controllerOf(object: unknown, garbled = garbledObject(object)): ControllerReference | undefined {
	const owners = listOf(fieldsOf(object, "metadata", garbled), "ownerReferences", "metadata", garbled);
	const unclear = owners.find(({ controller }) => typeof (controller ?? false) !== "boolean");
	if (unclear) throw garbled(`the controller of its ownerReferences is ${quote(unclear["controller"])}`);
	const owner = owners.find((reference) => reference["controller"] === true);
	if (!owner) return undefined;
	const text = (field: string): string => {
		const value = owner[field];
		if (typeof value !== "string" || value === "") throw garbled(`the ${field} of its controller is ${quote(value)}`);
		return value;
	};
	return { apiVersion: text("apiVersion"), kind: text("kind"), name: text("name"), uid: text("uid") };
}
