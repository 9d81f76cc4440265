// Serves one watch: either the writes after a version, or all objects and then new writes.
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject } from "./api-object.ts";
import type { ApiRequest } from "./api-request.ts";
import type { ObjectStore, StoreEvent } from "./object-store.ts";
import { selection } from "./reads.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";
import { expired, invalid } from "./status-error.ts";

export interface WatchWriter {
	write(event: { readonly type: string; readonly object: object }): void;
	/** Called when the watch has reached its timeout. */
	end(): void;
}

const bookmarkMs = 10_000;
/** A last bookmark, this long before the end, lets the next watch continue there. */
const lastBookmarkMs = 2_000;
const defaultSeconds = 1_800;

/** Returns a function that stops the watch. Throws StatusError for an invalid request. */
export function startWatchStream(store: ObjectStore, request: ApiRequest, writer: WatchWriter): () => void {
	const { type, query } = request;
	const isWanted = selection(request);
	const asked = query.get("resourceVersion") ?? "";
	const sendsInitial = query.get("sendInitialEvents") === "true";
	refuseInitialEventsWithoutMatch(query);
	const initial = sendsInitial || asked === "" || asked === "0";
	const missed = initial ? [] : store.eventsSince(type.key, Number(asked));
	if (!missed) {
		const { status } = expired(`too old resource version: ${asked} (${store.compacted})`);
		writer.write({ type: "ERROR", object: status });
		// The stream stays open until its timeout, as in Kubernetes.
		return startTimers(query, { bookmark: () => undefined, end: () => writer.end() });
	}
	if (initial) for (const object of store.list(type.key).filter(isWanted)) writer.write({ type: "ADDED", object });
	if (sendsInitial && query.get("allowWatchBookmarks") === "true") {
		writer.write(bookmark(type, store.version, { "k8s.io/initial-events-end": "true" }));
	}
	const tell = (event: StoreEvent): void => {
		const seen = asSeen(event, isWanted);
		if (seen) writer.write(seen);
	};
	// A future version is accepted, as in Kubernetes. Events begin after it.
	const from = initial ? store.version : Number(asked);
	missed.forEach(tell);
	const unsubscribe = store.subscribe((event) => {
		if (event.resource === type.key && event.version > from) tell(event);
	});
	const timers = startTimers(query, {
		bookmark: () => writer.write(bookmark(type, store.version)),
		end: () => {
			stop();
			writer.end();
		},
	});
	const stop = (): void => {
		unsubscribe();
		timers();
	};
	return stop;
}

/** Returns the event that a watch with this selector sees. Undefined if it sees none. */
function asSeen({ type, object, previous }: StoreEvent, isWanted: (object: ApiObject) => boolean) {
	const was = previous !== undefined && isWanted(previous);
	const is = type !== "DELETED" && isWanted(object);
	if (was && is) return { type: "MODIFIED", object };
	if (is) return { type: "ADDED", object };
	if (!was) return undefined;
	// The last state that matched, with the version of the change.
	const { resourceVersion } = object.metadata;
	return { type: "DELETED", object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}

function bookmark(type: ResourceType, version: number, annotations?: Readonly<Record<string, string>>) {
	const metadata = { resourceVersion: String(version), creationTimestamp: null, ...(annotations && { annotations }) };
	return { type: "BOOKMARK", object: { kind: type.kind, apiVersion: apiVersionOf(type), metadata } };
}

function startTimers(
	query: URLSearchParams,
	on: { readonly bookmark: () => void; readonly end: () => void },
): () => void {
	const ms = Number(query.get("timeoutSeconds") ?? defaultSeconds) * 1_000;
	const timers = [setTimeout(on.end, ms)];
	if (query.get("allowWatchBookmarks") === "true") {
		timers.push(setInterval(on.bookmark, bookmarkMs), setTimeout(on.bookmark, Math.max(0, ms - lastBookmarkMs)));
	}
	return () => timers.forEach(clearTimeout);
}

function refuseInitialEventsWithoutMatch(query: URLSearchParams): void {
	if (!query.has("sendInitialEvents") || query.get("resourceVersionMatch") === "NotOlderThan") return;
	const type = { group: "meta.k8s.io", kind: "ListOptions" };
	const message = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
	throw invalid(type, "", { field: "resourceVersionMatch", reason: "FieldValueForbidden", message });
}

export function withTables(writer: WatchWriter, tableOf: (object: ApiObject) => object): WatchWriter {
	return {
		end: () => writer.end(),
		write({ type, object }) {
			const isObject = type !== "BOOKMARK" && type !== "ERROR" && isRecord(object);
			writer.write({ type, object: isObject ? tableOf(object as unknown as ApiObject) : object });
		},
	};
}
