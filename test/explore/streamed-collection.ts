// Pods or Leases of a simulated API server as lists and watches show them: objects, and lines of JSON.
import { allPods } from "../../agent/cluster-api/pod-calls.ts";
import type { ApiAnswer } from "../../agent/kubernetes/api-connection.ts";
import type { ListedResource } from "../../agent/kubernetes/paged-list.ts";
import type { WatchEvent } from "../../agent/kubernetes/watch-sink.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { podObject } from "./projected-pod.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";

/** An API server can return fewer objects than asked for. With this size, most lists have two pages. */
const pageSize = 2;

type Identified = { readonly uid: string; readonly name: string; readonly resourceVersion: string };

export interface StreamedCollection {
	/** For example "pod" or "Lease". */
	readonly what: string;
	readonly resource: ListedResource;
	readonly log: readonly WatchEvent<unknown>[];
	eventsUntil(revision: number): number;
	/** Returns the lines that show the objects after this many events. */
	objectLines(events: number): readonly string[];
	/** Returns the line of one event. With `isGarbled` the line cannot be read. */
	eventLine(event: WatchEvent<unknown>, isGarbled?: boolean): string;
	/** Returns a page of a list: the first one for the token "", otherwise the next one, at the revision that the token names. */
	page(token: string): ApiAnswer;
}

const leases: ListedResource = {
	name: "leases",
	path: "/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases",
	resource: "leases",
	group: "coordination.k8s.io",
	namespace: "xpdb-system",
};

export function streamedPods(server: SimulatedApiServer): StreamedCollection {
	return streamedCollection<PodRecord>(server, {
		what: "pod",
		resource: allPods,
		log: server.podEvents,
		objectOf: podObject,
	});
}

export function streamedLeases(server: SimulatedApiServer): StreamedCollection {
	const object = ({ name, uid, resourceVersion, labels, annotations, spec }: LeaseObject): object => ({
		metadata: { name, uid, resourceVersion, labels, annotations },
		spec,
	});
	return streamedCollection<LeaseObject>(server, {
		what: "Lease",
		resource: leases,
		log: server.leaseEvents,
		objectOf: object,
	});
}

export function bookmarkLine(resourceVersion: string, { isEndOfList = false } = {}): string {
	const annotations = isEndOfList ? { "k8s.io/initial-events-end": "true" } : {};
	return JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion, annotations } } });
}

export const expiredLine = JSON.stringify({
	type: "ERROR",
	object: { code: 410, message: "too old resource version" },
});

function streamedCollection<T extends Identified>(
	server: SimulatedApiServer,
	{
		what,
		resource,
		log,
		objectOf,
	}: {
		readonly what: string;
		readonly resource: ListedResource;
		readonly log: readonly WatchEvent<T>[];
		readonly objectOf: (object: T) => object;
	},
): StreamedCollection {
	const after = (events: number): readonly T[] => {
		const objects = new Map<string, T>();
		for (const { type, object } of log.slice(0, events)) {
			if (type === "DELETED") objects.delete(object.uid);
			else objects.set(object.uid, object);
		}
		return [...objects.values()];
	};
	const eventsUntil = (revision: number): number => {
		const later = log.findIndex(({ resourceVersion }) => Number(resourceVersion) > revision);
		return later < 0 ? log.length : later;
	};
	const lineOf = (type: string, object: T): string => JSON.stringify({ type, object: objectOf(object) });
	return {
		what,
		resource,
		log,
		eventsUntil,
		objectLines: (events) => after(events).map((object) => lineOf("ADDED", object)),
		eventLine: (event, isGarbled = false) => {
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an event of this log
			const { type, object, resourceVersion } = event as WatchEvent<T>;
			if (isGarbled) return JSON.stringify({ type, object: { metadata: { resourceVersion } } });
			return lineOf(type, { ...object, resourceVersion });
		},
		page: (token) => {
			const [revision = 0, offset = 0] = token === "" ? [server.revision] : token.split(".").map(Number);
			if (revision > server.revision) return { status: 410, body: { message: "the token has expired" } };
			const objects = after(eventsUntil(revision)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
			const next = offset + pageSize;
			const metadata = {
				resourceVersion: String(revision),
				...(next < objects.length && { continue: `${revision}.${next}` }),
			};
			return { status: 200, body: { metadata, items: objects.slice(offset, next).map(objectOf) } };
		},
	};
}
