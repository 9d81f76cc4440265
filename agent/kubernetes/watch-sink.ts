// What a watch reports to the store of its objects. Versions only rise, except after `reset`.
export interface WatchEvent<T> {
	readonly type: "ADDED" | "MODIFIED" | "DELETED";
	readonly object: T;
	/** Version of the change; for DELETED, the version of the deletion. */
	readonly resourceVersion: string;
}

export interface WatchSink<T> {
	/** A complete list at a version; a list older than the stored content changes nothing. */
	replace(objects: readonly T[], resourceVersion: string): void;
	/** One change; a change that the stored content already includes has no effect. */
	apply(event: WatchEvent<T>): void;
	/** No change up to this version is missing. */
	bookmark(resourceVersion: string): void;
	/** The server's versions went back (etcd restored): everything is forgotten until the next `replace`. */
	reset(): void;
	/** The watch was alive at this instant of the agent's clock. */
	signOfLife(at: number): void;
	/** The watch is closed, or was silent for too long. */
	watchLost(): void;
}

/** A watch is dead if it has no event, bookmark or answer to a ping for this long: two pings of 2 s, and one more second. */
export const signOfLifeMs = 5_000;
