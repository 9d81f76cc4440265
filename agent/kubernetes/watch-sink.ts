// What a watch tells whoever keeps its objects. Versions only rise, except after `reset`.
export interface WatchEvent<T> {
	readonly type: "ADDED" | "MODIFIED" | "DELETED";
	readonly object: T;
	/** Version of the change; of a DELETED one, the version of the deletion. */
	readonly resourceVersion: string;
}

export interface WatchSink<T> {
	/** A complete list at a version; one older than what is kept already changes nothing. */
	replace(objects: readonly T[], resourceVersion: string): void;
	/** One change; one that the content has in it already changes nothing. */
	apply(event: WatchEvent<T>): void;
	/** No change up to this version is missing. */
	bookmark(resourceVersion: string): void;
	/** The server's versions went back (etcd restored): everything is forgotten until the next `replace`. */
	reset(): void;
	/** The watch was alive at this instant of the agent's clock. */
	signOfLife(at: number): void;
	/** The watch is closed, or silent for too long. */
	watchLost(): void;
}

/** A watch without an event, a bookmark or an answer to a ping for this long is no view: two pings of 2 s, and one more second. */
export const signOfLifeMs = 5_000;
