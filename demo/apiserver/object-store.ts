// Plays etcd for the small API server: the objects, a counter of writes, and the latest writes. All methods are synchronous, so every write
// is atomic.
import { type ApiObject, keyOf } from "./api-object.ts";

export interface StoreEvent {
	readonly type: "ADDED" | "MODIFIED" | "DELETED";
	/** The key of the object's type, as in resource-types.ts. */
	readonly resource: string;
	readonly version: number;
	readonly object: ApiObject;
	readonly previous: ApiObject | undefined;
}

// Versions do not begin at 1, so that a watch from version 1 has expired, as in any cluster that is not new.
const firstVersion = 1_000;
const keptEvents = 20_000;

export class ObjectStore {
	readonly #collections = new Map<string, Map<string, ApiObject>>();
	readonly #listeners = new Set<(event: StoreEvent) => void>();
	#log: StoreEvent[] = [];
	#version = firstVersion;
	/** Events up to this version are forgotten. */
	#compacted = firstVersion;

	get version(): number {
		return this.#version;
	}

	get compacted(): number {
		return this.#compacted;
	}

	find(resource: string, key: string): ApiObject | undefined {
		return this.#collections.get(resource)?.get(key);
	}

	list(resource: string): ApiObject[] {
		return inOrder(this.#collections.get(resource)?.values() ?? []);
	}

	/** Returns the objects as they were at an earlier version. Undefined if that version is forgotten. */
	listAt(resource: string, version: number): ApiObject[] | undefined {
		if (version < this.#compacted) return undefined;
		const objects = new Map(this.#collections.get(resource));
		for (const event of this.#log.toReversed()) {
			if (event.version <= version) break;
			if (event.resource !== resource) continue;
			if (event.previous) objects.set(keyOf(event.object), event.previous);
			else objects.delete(keyOf(event.object));
		}
		return inOrder(objects.values());
	}

	put(resource: string, object: ApiObject): ApiObject {
		const collection = this.#collections.get(resource) ?? new Map<string, ApiObject>();
		this.#collections.set(resource, collection);
		const previous = collection.get(keyOf(object));
		const stored = this.#stamp(object);
		collection.set(keyOf(stored), stored);
		this.#record({ type: previous ? "MODIFIED" : "ADDED", resource, version: this.#version, object: stored, previous });
		return stored;
	}

	/** Removes an object. Returns its last state, with the version of the removal. */
	remove(resource: string, object: ApiObject): ApiObject {
		const previous = this.find(resource, keyOf(object));
		this.#collections.get(resource)?.delete(keyOf(object));
		const removed = this.#stamp(object);
		this.#record({ type: "DELETED", resource, version: this.#version, object: removed, previous });
		return removed;
	}

	/** Returns the writes after a version. Undefined if some of them are forgotten. */
	eventsSince(resource: string, version: number): StoreEvent[] | undefined {
		if (version < this.#compacted) return undefined;
		return this.#log.filter((event) => event.version > version && event.resource === resource);
	}

	compact(): void {
		this.#log = [];
		this.#compacted = this.#version;
	}

	subscribe(listener: (event: StoreEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	#stamp(object: ApiObject): ApiObject {
		this.#version += 1;
		return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
	}

	#record(event: StoreEvent): void {
		this.#log.push(event);
		if (this.#log.length > keptEvents) {
			this.#compacted = this.#log[keptEvents / 2]?.version ?? this.#compacted;
			this.#log = this.#log.slice(keptEvents / 2 + 1);
		}
		for (const listener of this.#listeners) listener(event);
	}
}

function inOrder(objects: Iterable<ApiObject>): ApiObject[] {
	return [...objects].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
