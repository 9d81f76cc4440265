// Describes what a watch reports to the store of its objects. Versions never fall, except after `reset`.
export interface WatchEvent<T> {
	readonly type: "ADDED" | "MODIFIED" | "DELETED";
	readonly object: T;
	/** Version of the change; for DELETED, the version of the deletion. */
	readonly resourceVersion: string;
}

/** Takes a list object by object, so that it is not in memory twice. */
export interface ListSink<T> {
	put(uid: string, object: T): void;
	/** The object was deleted while the list was being read. */
	remove(uid: string): void;
	/** The list is complete: it shows everything up to this version. */
	end(resourceVersion: string): void;
}

export interface WatchSink<T> {
	/**
	 * Begins a list. Until its end, the sink has no complete content and must not be used, as after watchLost(). A list that is begun later,
	 * and a reset, void it. If left out, the list is collected and passed to replace().
	 */
	beginList?(): ListSink<T>;
	/** Takes a complete list at a version. A list that is older than the stored content changes nothing. */
	replace(objects: readonly T[], resourceVersion: string): void;
	/** Takes one change. A change that the stored content already includes has no effect. */
	apply(event: WatchEvent<T>): void;
	/** Takes note that no change up to this version is missing. */
	bookmark(resourceVersion: string): void;
	/** Forgets everything until the next `replace`: the server's versions went back, because etcd was restored. */
	reset(): void;
	/** Takes note that the watch was alive at this instant of the agent's clock. */
	signOfLife(at: number): void;
	/** Takes note that the watch broke or expired, or that what it reported cannot be trusted. */
	watchLost(): void;
}

/** A watch is dead if it has no event, bookmark or answer to a ping for this long: two pings of 2 s, and one more second. */
export const signOfLifeMs = 5_000;
