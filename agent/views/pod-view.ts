// Keeps the pods of this cluster, up to the version that one watch on all of them has reached.
//
// Guarantee: at `resourceVersion` V the content is exactly the cluster's pods at V, none missing and none too many, in every namespace. V
// only rises, unless everything is dropped (see below). So a pod that was read at a version r <= V and is not here is gone, whatever labels
// it had. How far V lags behind the cluster is not promised: a caller that needs a version waits for it with `arrives`.
// While a new list is being read, pods of two versions stand here side by side. Then `live` is false.
//
// Assumption: the API server sends the events of one resource in the order of their versions and leaves none out. A bookmark says that no
// event up to it is missing, and a consistent list is at least as new as its request. If versions go back (etcd was restored from a
// backup), this does not hold: everything is dropped, and nothing is answered before a new list.
//
// `live` says whether changes of pods are seen soon. While it is false, nothing is counted from this view, and no reservation ends on its
// evidence, because a dead watch may show what was before a restore of etcd. Only a list or stream of its own watch brings it back.
import type { PodReference } from "../../disruption/budget/cluster.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { compareResourceVersions, latestResourceVersion } from "../../disruption/resource-version.ts";
import type { LabelSelector } from "../../disruption/budget/selector.ts";
import { type ListSink, signOfLifeMs, type WatchEvent, type WatchSink } from "../kubernetes/watch-sink.ts";
import type { Clock } from "../process/clock.ts";
import { PodHeartbeats } from "./pod-heartbeats.ts";
import { PodColumns } from "./pod-columns.ts";

export interface PodView {
	/** Whether a list is stored: after the first one, except between a reset and the next list. Otherwise nothing here is an answer. */
	readonly synced: boolean;
	/** Whether a list is stored, and the watch has shown a sign of life in the last 5 s. */
	readonly live: boolean;
	/** The version that this view has reached: the highest of list, events and bookmarks. "" while no list is stored. */
	readonly resourceVersion: string;
	/** Whether the watch is alive and the view has everything up to `version`. */
	shows(version: string): boolean;
	/** Read the pods before you await anything, because the next event changes them. */
	pods(namespace: string): Iterable<PodRecord>;
	/** Read the pods before you await anything. */
	selected(namespace: string, selector: LabelSelector): Iterable<PodRecord>;
	find(pod: Pick<PodReference, "namespace" | "uid">): PodRecord | undefined;
	findByName(namespace: string, name: string): PodRecord | undefined;
	/**
	 * Returns the milliseconds between the changes of a pod that keeps changing without any effect on a count (heartbeats in annotations).
	 * Returns undefined for other pods.
	 */
	changesEveryMs(uid: string): number | undefined;
	/**
	 * Returns a version at which this uid is known to be gone, as low as the view can prove. It is the version of the pod's DELETE, of the
	 * event that shows another pod under its name, or of the first list without it. For a uid that was never seen, or whose deletion is no
	 * longer remembered, it is that of the latest list or of a later deletion. "" while the pod is here. It proves nothing about a pod that
	 * was read at a later version.
	 */
	goneSince(uid: string): string;
	/** Whether the view shows `version` within this time. It is false at once if the watch is dead. */
	arrives(version: string, withinMs: number): Promise<boolean>;
	/** Calls back for every namespace whose pods changed or may have changed. The returned function unsubscribes. */
	onChange(listener: PodListener): () => void;
}

/** `change` is the one pod that changed. It is left out if any pod of the namespace may have changed. */
export type PodListener = (namespace: string, change?: PodChange) => void;

/** A new pod has no `before`, and a deleted one no `after`. */
export interface PodChange {
	readonly before?: PodRecord | undefined;
	readonly after?: PodRecord | undefined;
}

interface PodStoreOptions {
	readonly clock: Clock;
	/** How many deletions are remembered by uid. For older ones, goneSince() returns a later version. */
	readonly deletionsKept?: number;
}

/** Implements PodView. A watch or a test feeds it, and it makes no requests. */
export class PodStore implements PodView, WatchSink<PodRecord> {
	readonly #options: PodStoreOptions;
	readonly #pods = new PodColumns();
	/** The list that is being read. */
	#list: ListSink<PodRecord> | undefined;
	/** The versions of deletions by uid, oldest first. */
	readonly #deletedAt = new Map<string, string>();
	/** A pod that is neither here nor in `#deletedAt`, and that was read at a version up to the view's, is gone at this version. */
	#goneFloor = "";
	#resourceVersion = "";
	#synced = false;
	#lastSignAt = Number.NEGATIVE_INFINITY;
	readonly #heartbeats: PodHeartbeats;
	readonly #waiters = new Set<() => void>();
	readonly #listeners = new Set<PodListener>();

	constructor(options: PodStoreOptions) {
		this.#options = options;
		this.#heartbeats = new PodHeartbeats(options.clock);
	}

	get synced(): boolean {
		return this.#synced;
	}

	// Judged at each call and not by a timer: a process that slept must not report its view as live before its timers run.
	get live(): boolean {
		return this.#synced && this.#options.clock.now() - this.#lastSignAt < signOfLifeMs;
	}

	/** How long the watch has shown no sign of life. Infinite if it broke. */
	get silentMs(): number {
		return this.#options.clock.now() - this.#lastSignAt;
	}

	get resourceVersion(): string {
		return this.#resourceVersion;
	}

	/** In all namespaces. */
	get size(): number {
		return this.#pods.size;
	}

	pods(namespace: string): Iterable<PodRecord> {
		return this.#pods.pods(namespace);
	}

	selected(namespace: string, selector: LabelSelector): Iterable<PodRecord> {
		return this.#pods.selected(namespace, selector);
	}

	find(pod: Pick<PodReference, "namespace" | "uid">): PodRecord | undefined {
		const found = this.#pods.find(pod.uid);
		return found?.namespace === pod.namespace ? found : undefined;
	}

	findByName(namespace: string, name: string): PodRecord | undefined {
		return this.#pods.findByName(namespace, name);
	}

	changesEveryMs(uid: string): number | undefined {
		return this.#heartbeats.everyMs(uid);
	}

	goneSince(uid: string): string {
		if (this.#pods.has(uid)) return "";
		return this.#deletedAt.get(uid) ?? this.#goneFloor;
	}

	shows(version: string): boolean {
		return this.live && compareResourceVersions(this.#resourceVersion, version) >= 0;
	}

	async arrives(version: string, withinMs: number): Promise<boolean> {
		if (this.shows(version) || !this.live) return this.shows(version);
		const { promise, resolve } = Promise.withResolvers<void>();
		const look = (): void => {
			if (this.shows(version) || !this.live) resolve();
		};
		const cancelTimer = this.#options.clock.after(withinMs, resolve);
		this.#waiters.add(look);
		await promise;
		this.#waiters.delete(look);
		cancelTimer();
		return this.shows(version);
	}

	onChange(listener: PodListener): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	replace(pods: readonly PodRecord[], resourceVersion: string): void {
		if (compareResourceVersions(resourceVersion, this.#resourceVersion) < 0) return;
		const lastSignAt = this.#lastSignAt;
		const list = this.beginList();
		for (const pod of pods) list.put(pod.uid, pod);
		list.end(resourceVersion);
		// Nothing was shown while this list was incomplete.
		this.signOfLife(lastSignAt);
	}

	/** The pods change in place, so that no second copy is held. The view is dead until the list is complete and shows a sign of life. */
	beginList(): ListSink<PodRecord> {
		this.#lastSignAt = Number.NEGATIVE_INFINITY;
		const changed = new Set(this.#pods.namespaces());
		const gone: string[] = [];
		this.#pods.beginList();
		const ifCurrent = (run: () => void): void => {
			if (this.#list === list) run();
		};
		const list: ListSink<PodRecord> = {
			put: (_uid, pod) =>
				ifCurrent(() => {
					const before = this.#pods.put(pod);
					if (before !== undefined) gone.push(before);
					changed.add(pod.namespace);
				}),
			remove: (uid) =>
				ifCurrent(() => {
					this.#pods.remove(uid);
					gone.push(uid);
				}),
			end: (resourceVersion) =>
				ifCurrent(() => {
					this.#list = undefined;
					const unlisted = this.#pods.unlisted();
					for (const uid of unlisted) this.#pods.remove(uid);
					this.#listed(resourceVersion, [...gone, ...unlisted]);
					for (const namespace of changed) this.#notify(namespace);
				}),
		};
		this.#list = list;
		return list;
	}

	#listed(resourceVersion: string, gone: readonly string[]): void {
		// An older list is from before a restore of etcd, and so is everything that it lacks.
		if (compareResourceVersions(resourceVersion, this.#resourceVersion) < 0) this.#deletedAt.clear();
		for (const uid of gone) {
			if (this.#pods.has(uid)) continue;
			this.#rememberDeletion(uid, resourceVersion);
			this.#heartbeats.forget(uid);
		}
		this.#goneFloor = resourceVersion;
		this.#synced = true;
		this.#advance(resourceVersion);
	}

	apply(event: WatchEvent<PodRecord>): void {
		const { object: pod, resourceVersion } = event;
		if (!this.#synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		const changes: PodChange[] = [];
		const before = this.#pods.find(pod.uid);
		if (event.type === "DELETED") {
			this.#remove(pod.uid);
			this.#rememberDeletion(pod.uid, resourceVersion);
			changes.push({ before: before ?? pod });
		} else {
			const replaced = this.findByName(pod.namespace, pod.name);
			if (replaced && replaced.uid !== pod.uid) {
				this.#remove(replaced.uid);
				this.#rememberDeletion(replaced.uid, resourceVersion);
				changes.push({ before: replaced });
			}
			this.#heartbeats.changed(before, pod);
			this.#pods.put(pod);
			changes.push({ before, after: this.#pods.find(pod.uid) });
		}
		this.#advance(resourceVersion);
		for (const change of changes) this.#notify(pod.namespace, change);
	}

	bookmark(resourceVersion: string): void {
		if (!this.#synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		this.#advance(resourceVersion);
	}

	reset(): void {
		const namespaces = this.#pods.namespaces();
		this.#heartbeats.clear();
		this.#pods.clear();
		this.#list = undefined;
		this.#deletedAt.clear();
		this.#goneFloor = "";
		this.#resourceVersion = "";
		this.#synced = false;
		this.watchLost();
		for (const namespace of namespaces) this.#notify(namespace);
	}

	signOfLife(at: number): void {
		// A list that is not complete shows nothing.
		if (this.#list) return;
		this.#lastSignAt = Math.max(this.#lastSignAt, at);
		this.#moved();
	}

	watchLost(): void {
		this.#lastSignAt = Number.NEGATIVE_INFINITY;
		this.#moved();
	}

	#remove(uid: string): void {
		this.#pods.remove(uid);
		this.#heartbeats.forget(uid);
	}

	#rememberDeletion(uid: string, resourceVersion: string): void {
		this.#deletedAt.set(uid, resourceVersion);
		// 10,000 deletions are all pods of a large cluster, replaced once. They take about 2 MB.
		if (this.#deletedAt.size <= (this.#options.deletionsKept ?? 10_000)) return;
		for (const [oldest, version] of this.#deletedAt) {
			this.#deletedAt.delete(oldest);
			this.#goneFloor = latestResourceVersion(this.#goneFloor, version);
			break;
		}
	}

	#advance(resourceVersion: string): void {
		this.#resourceVersion = resourceVersion;
		this.#moved();
	}

	#moved(): void {
		for (const look of this.#waiters) look();
	}

	#notify(namespace: string, change?: PodChange): void {
		for (const listener of this.#listeners) listener(namespace, change);
	}
}
