import type { ListSink, WatchSink } from "./watch-sink.ts";

/** Keeps a streamed list until it is complete, for a view that cannot take it object by object. */
export class CollectedList<T> implements ListSink<T> {
	readonly #sink: Pick<WatchSink<T>, "replace">;
	/** By uid. */
	readonly #objects = new Map<string, T>();

	constructor(sink: Pick<WatchSink<T>, "replace">) {
		this.#sink = sink;
	}

	put(uid: string, object: T): void {
		this.#objects.set(uid, object);
	}

	remove(uid: string): void {
		this.#objects.delete(uid);
	}

	end(resourceVersion: string): void {
		this.#sink.replace([...this.#objects.values()], resourceVersion);
		this.#objects.clear();
	}
}
