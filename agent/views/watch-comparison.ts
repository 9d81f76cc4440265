// Checks whether a watch still reports all objects (budgets or workloads). While callers need these objects, it compares the watch with
// consistent lists at intervals. A watch can answer pings and yet report nothing, for example if the watch cache of an API server is stuck.
// A budget that it misses would not be enforced, and a workload that it misses would not be expected.
//
// Guarantee: if the last successful comparison began at B, the watch has shown every object that existed at B, unless it has shown since
// that the object is gone. With `versionOf`, it has shown the object in its version at B, or a later one.
// Assumption: a list without resourceVersion is at least as new as its request.
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { ListedVersions } from "../cluster-api/workload-calls.ts";
import type { Clock } from "../process/clock.ts";

/** The part of ObjectStore that a comparison needs. */
interface WatchedObjects<T> {
	readonly keyOf: (object: T) => string;
	readonly live: boolean;
	readonly resourceVersion: string;
	get(key: string): T | undefined;
	values(): Iterable<T>;
	onChange(listener: (object: T) => void): () => void;
	becomes(isSo: () => boolean): Promise<boolean>;
}

interface WatchComparisonOptions<T> {
	readonly store: WatchedObjects<T>;
	readonly list: () => Promise<ListedVersions>;
	/** If left out, all objects that the watch shows are compared. */
	readonly isListed?: (object: T) => boolean;
	/** If left out, only names are compared. Code that needs more than names then reads the objects. */
	readonly versionOf?: (object: T) => string;
	readonly clock: Pick<Clock, "now" | "after">;
	/** Called if the live watch shows other objects than a list does, and does not catch up. The watch must then be opened again. */
	readonly onDifferent: (names: readonly string[]) => void;
	/** Called if the list failed. */
	readonly report: (problem: unknown) => void;
}

/** A new budget is enforced, and a new workload's pods are expected, within five seconds of its creation. */
export const comparedWithinMs = 5_000;
/** This leaves 3 of the 5 s for a slow list. At 1 KB of metadata each, 1,000 budgets are half a megabyte a second. */
const everyMs = 2_000;
/** Longer than the pause between two requests of a running drain. An agent without callers lists nothing. */
const idleAfterMs = 30_000;

export class WatchComparison<T> {
	readonly #options: WatchComparisonOptions<T>;
	#heldAt = Number.NEGATIVE_INFINITY;
	#wantedAt = Number.NEGATIVE_INFINITY;
	#running = false;
	#closed = false;
	#cancelPause = (): void => undefined;

	constructor(options: WatchComparisonOptions<T>) {
		this.#options = options;
	}

	/** Judged at each call, because a process that slept has not compared. */
	get isRecent(): boolean {
		return this.#options.clock.now() - this.#heldAt <= comparedWithinMs;
	}

	/** Whether it lists nothing at present, because no caller has asked for a while. */
	get isIdle(): boolean {
		return !this.#running;
	}

	/** Compares for a while, because a caller that asks will probably ask again soon. */
	wanted(): void {
		this.#wantedAt = this.#options.clock.now();
		if (this.#running || this.#closed) return;
		this.#running = true;
		void this.#keepComparing();
	}

	/** Rejects if the list fails. */
	async compare(): Promise<void> {
		const { store, list, clock, onDifferent } = this.#options;
		const beganAt = clock.now();
		const shownAt = new Map<string, string>();
		const stopListening = store.onChange((object) => void shownAt.set(store.keyOf(object), store.resourceVersion));
		try {
			const listed = await list();
			const different = (): readonly string[] => differences(this.#options, listed, shownAt);
			// A watch may be slightly behind a list, or ahead of it.
			if (await store.becomes(() => different().length === 0)) this.#heldAt = Math.max(this.#heldAt, beganAt);
			else if (store.live) onDifferent(different());
		} finally {
			stopListening();
		}
	}

	close(): void {
		this.#closed = true;
		this.#cancelPause();
	}

	async #keepComparing(): Promise<void> {
		const { clock, report } = this.#options;
		while (!this.#closed && clock.now() - this.#wantedAt < idleAfterMs) {
			const dueAt = clock.now() + everyMs;
			await this.compare().catch(report);
			await this.#pause(dueAt - clock.now());
		}
		this.#running = false;
	}

	async #pause(ms: number): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = this.#options.clock.after(Math.max(ms, 0), resolve);
		this.#cancelPause = () => {
			cancel();
			resolve();
		};
		await promise;
	}
}

/**
 * Returns the keys that only the list or only the watch has, or that differ in version. Leaves out a key if a change that the watch has
 * shown meanwhile explains the difference. `shownAt` has the objects that the watch has shown since before the list, with the version at
 * which it showed them.
 */
function differences<T>(
	{ store, isListed = () => true, versionOf }: Pick<WatchComparisonOptions<T>, "store" | "isListed" | "versionOf">,
	{ versions, resourceVersion }: ListedVersions,
	shownAt: ReadonlyMap<string, string>,
): readonly string[] {
	const different: string[] = [];
	for (const [key, version] of versions) {
		const found = store.get(key);
		// The watch has shown the object at that version or later since before the list. So a missing object was deleted after the list, and a
		// newer one changed after it.
		const isShown = compareResourceVersions(shownAt.get(key) ?? "", version) >= 0;
		// Only an equal version is the same. After a restore of etcd, an older object from the lost history may have a higher version.
		const isSame = found !== undefined && (versionOf?.(found) ?? version) === version;
		if (!isSame && !isShown) different.push(key);
	}
	for (const object of store.values()) {
		if (!isListed(object)) continue;
		const key = store.keyOf(object);
		const isNewer = compareResourceVersions(shownAt.get(key) ?? "", resourceVersion) > 0;
		if (!versions.has(key) && !isNewer) different.push(key);
	}
	return different;
}
