// Handles create, update and patch, with their preconditions: uid, resourceVersion and unused names.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, type JsonObject, textAt, valueAt } from "./api-object.ts";
import { type ApiAnswer, type ApiRequest, isDryRun, sentObject, storeKey } from "./api-request.ts";
import { created, generateName, updated } from "./defaults.ts";
import { withFieldOwners } from "./field-owners.ts";
import type { ObjectStore } from "./object-store.ts";
import { patched } from "./patch.ts";
import { builtInType } from "./resource-types.ts";
import { alreadyExists, badRequest, conflict, forbidden, invalid, notFound, objectModified } from "./status-error.ts";

export function create(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const { type, namespace } = request;
	const sent = sentObject(request);
	const prefix = textAt(sent, "metadata.generateName");
	const name = textAt(sent, "metadata.name") || (prefix === "" ? "" : generateName(prefix));
	if (name === "") {
		const message = "Required value: name or generateName is required";
		throw invalid(type, "", { field: "metadata.name", reason: "FieldValueRequired", message });
	}
	const sentNamespace = textAt(sent, "metadata.namespace");
	if (sentNamespace !== "" && sentNamespace !== namespace) {
		throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
	}
	if (type.namespaced) refuseMissingNamespace(store, request, name);
	if (store.find(type.key, storeKey({ namespace, name }))) throw alreadyExists(type, name);
	const object = created(type, sent, { namespace, name });
	refuseMissingAccount(store, object);
	return { code: 201, body: isDryRun(request) ? object : store.put(type.key, object) };
}

/** Throws if the namespace is missing or terminating. This also refuses evictions. */
export function refuseMissingNamespace(store: ObjectStore, { type, namespace }: ApiRequest, name: string): void {
	const namespaces = builtInType("namespaces");
	const found = store.find(namespaces.key, storeKey({ namespace: "", name: namespace }));
	if (!found) throw notFound(namespaces, namespace);
	if (found.metadata.deletionTimestamp === undefined) return;
	const message = `namespace ${namespace} is being terminated`;
	const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
	throw forbidden(type, name, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
}

function refuseMissingAccount(store: ObjectStore, object: ApiObject): void {
	const { namespace = "", name } = object.metadata;
	if (object.kind !== "Pod") return;
	const account = textAt(object, "spec.serviceAccountName");
	if (store.find("serviceaccounts", storeKey({ namespace, name: account }))) return;
	const why = `error looking up service account ${namespace}/${account}: serviceaccount ${JSON.stringify(account)} not found`;
	throw forbidden(builtInType("pods"), name, why);
}

export function update(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const { type, name } = request;
	const wanted = sentObject(request);
	const sentName = textAt(wanted, "metadata.name");
	if (sentName !== name) {
		throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`);
	}
	const uid = textAt(wanted, "metadata.uid");
	const old = store.find(type.key, storeKey(request));
	if (!old && type.key === "leases.coordination.k8s.io" && request.subresource === "") {
		if (uid !== "") throw wrongUid(request, uid, "");
		// A PUT creates a missing Lease, as in Kubernetes.
		if (textAt(wanted, "metadata.resourceVersion") === "") return create(store, request);
	}
	if (!old) throw notFound(type, name);
	if (uid !== "" && uid !== old.metadata.uid) throw wrongUid(request, uid, old.metadata.uid);
	return replace(store, request, old, wanted);
}

function wrongUid({ type, name }: ApiRequest, asked: string, found: string): Error {
	return conflict(type, name, `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${found}`);
}

export function patch(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const { type, name, contentType, body } = request;
	const old = store.find(type.key, storeKey(request));
	if (!old) throw notFound(type, name);
	const wanted = patched(old, { contentType, body, isCustom: type.custom !== undefined });
	const uid = textAt(wanted, "metadata.uid");
	if (uid !== old.metadata.uid) {
		const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
		throw invalid(type, name, { field: "metadata.uid", reason: "FieldValueInvalid", message });
	}
	return replace(store, request, old, wanted);
}

function replace(store: ObjectStore, request: ApiRequest, old: ApiObject, wanted: JsonObject): ApiAnswer {
	const { type, name, subresource } = request;
	const version = textAt(wanted, "metadata.resourceVersion");
	if (version !== "" && version !== old.metadata.resourceVersion) throw conflict(type, name, objectModified);
	const next = withFieldOwners(request, old, updated(type, { old, wanted, subresource }));
	// A write that changes nothing makes no new version.
	if (isDeepStrictEqual(next, old)) return { code: 200, body: old };
	if (isDryRun(request)) return { code: 200, body: next };
	if (isFinished(next)) {
		store.remove(type.key, next);
		return { code: 200, body: next };
	}
	return { code: 200, body: store.put(type.key, next) };
}

function isFinished({ metadata, spec, kind }: ApiObject): boolean {
	const held = kind === "Namespace" && valueAt(spec, "finalizers") !== undefined;
	return (
		metadata.deletionTimestamp !== undefined &&
		(metadata.finalizers ?? []).length === 0 &&
		(metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
		!held
	);
}

export function withValueAt(object: JsonObject, path: string, value: unknown): JsonObject {
	const [field = "", ...rest] = path.split(".");
	if (rest.length === 0) return { ...object, [field]: value };
	const inner = object[field];
	return { ...object, [field]: withValueAt(isRecord(inner) ? inner : {}, rest.join("."), value) };
}
