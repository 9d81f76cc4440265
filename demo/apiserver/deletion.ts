// Handles DELETE: preconditions, grace periods, finalizers and dependents.
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, keyOf, numberAt, textAt, timestamp } from "./api-object.ts";
import { type ApiAnswer, type ApiRequest, isDryRun, storeKey } from "./api-request.ts";
import { graceSeconds } from "./defaults.ts";
import type { ObjectStore } from "./object-store.ts";
import type { ResourceType } from "./resource-types.ts";
import { conflict, notFound } from "./status-error.ts";

/** The options of a DELETE or an Eviction. An empty string means that the option is not set. */
export interface DeleteOptions {
	readonly uid: string;
	readonly resourceVersion: string;
	readonly gracePeriodSeconds: number | undefined;
	readonly propagationPolicy: string;
}

export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
	const asked = query.get("gracePeriodSeconds");
	return {
		uid: textAt(body, "preconditions.uid"),
		resourceVersion: textAt(body, "preconditions.resourceVersion"),
		gracePeriodSeconds: asked === null ? numberAt(body, "gracePeriodSeconds") : Number(asked),
		propagationPolicy: query.get("propagationPolicy") ?? textAt(body, "propagationPolicy"),
	};
}

export function remove(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const { type, name, query, body } = request;
	const old = store.find(type.key, storeKey(request));
	if (!old) throw notFound(type, name);
	const options = readDeleteOptions(body, query);
	checkPreconditions(type, old, options);
	if (isDryRun(request)) return { code: 200, body: old };
	const { object, isGone } = beginDeletion(store, type, old, options);
	return { code: 200, body: isGone && type.key !== "pods" ? success(type, object) : object };
}

export function checkPreconditions(type: ResourceType, { metadata }: ApiObject, options: DeleteOptions): void {
	const { uid, resourceVersion } = options;
	// API servers name the kind in this conflict, and the resource in all others.
	const refuse = (why: string) => conflict({ group: type.group, plural: type.kind }, metadata.name, why);
	if (uid !== "" && uid !== metadata.uid) {
		throw refuse(
			`the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
		);
	}
	if (resourceVersion !== "" && resourceVersion !== metadata.resourceVersion) {
		throw refuse(
			`the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
		);
	}
}

/** Deletes an object. Only marks a namespace, or an object that a grace period or finalizers hold. Does not check preconditions. */
export function beginDeletion(
	store: ObjectStore,
	type: ResourceType,
	old: ApiObject,
	options: Pick<DeleteOptions, "gracePeriodSeconds" | "propagationPolicy">,
): { readonly object: ApiObject; readonly isGone: boolean } {
	if (type.key === "pods") return deletePod(store, type, old, options.gracePeriodSeconds);
	if (options.propagationPolicy === "Orphan") orphanDependents(store, old);
	const finalizers = [...(old.metadata.finalizers ?? [])];
	if (options.propagationPolicy === "Foreground") finalizers.push("foregroundDeletion");
	if (type.key === "namespaces") {
		const { deletionTimestamp = timestamp() } = old.metadata;
		const status = { ...old.status, phase: "Terminating" };
		const metadata = { ...old.metadata, deletionTimestamp };
		return { object: store.put(type.key, { ...old, metadata, status }), isGone: false };
	}
	if (finalizers.length === 0) return { object: store.remove(type.key, old), isGone: true };
	if (old.metadata.deletionTimestamp !== undefined) return { object: old, isGone: false };
	const marked = {
		deletionTimestamp: timestamp(),
		deletionGracePeriodSeconds: 0,
		finalizers: [...new Set(finalizers)],
	};
	return { object: store.put(type.key, { ...old, metadata: { ...old.metadata, ...marked } }), isGone: false };
}

function deletePod(store: ObjectStore, type: ResourceType, old: ApiObject, asked: number | undefined) {
	const { metadata } = old;
	const isHeld = (metadata.finalizers ?? []).length > 0;
	const seconds = graceSeconds(old, asked);
	const before = metadata.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0);
	// A second request can shorten the time, but never lengthen it.
	if (before !== undefined && (asked === undefined || seconds >= before) && (seconds > 0 || isHeld)) {
		return { object: old, isGone: false };
	}
	const startedAt = before === undefined ? Date.now() : Date.parse(metadata.deletionTimestamp ?? "") - before * 1_000;
	const marked = {
		deletionTimestamp: timestamp(startedAt + seconds * 1_000),
		deletionGracePeriodSeconds: seconds,
		...(metadata.generation !== undefined && { generation: metadata.generation + 1 }),
	};
	const object = store.put(type.key, { ...old, metadata: { ...metadata, ...marked } });
	if (seconds > 0 || isHeld) return { object, isGone: false };
	// Marked before it is removed, so that watchers see two events.
	return { object: store.remove(type.key, object), isGone: true };
}

function orphanDependents(store: ObjectStore, { metadata: { uid } }: ApiObject): void {
	for (const resource of ["pods", "replicasets.apps"]) {
		for (const object of store.list(resource)) {
			const { ownerReferences = [], ...metadata } = object.metadata;
			const others = ownerReferences.filter((owner) => owner.uid !== uid);
			if (others.length === ownerReferences.length) continue;
			store.put(resource, { ...object, metadata: { ...metadata, ownerReferences: others } });
		}
	}
}

function success({ group, plural }: ResourceType, { metadata: { name, uid } }: ApiObject): object {
	const details = { name, ...(group !== "" && { group }), kind: plural, uid };
	return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

/** Deletes these objects without checking preconditions. */
export function removeCollection(store: ObjectStore, request: ApiRequest, objects: readonly ApiObject[]): ApiAnswer {
	const { type, query, body } = request;
	const options = readDeleteOptions(isRecord(body) ? body : {}, query);
	const items = objects
		.filter((object) => store.find(type.key, keyOf(object)))
		.map((object) => (isDryRun(request) ? object : beginDeletion(store, type, object, options).object));
	const metadata = { resourceVersion: String(store.version) };
	return { code: 200, body: { kind: `${type.kind}List`, apiVersion: type.version, metadata, items } };
}
