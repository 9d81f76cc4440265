// Keeps the pods of this cluster, up to the version that one watch on all of them has reached.
//
// Guarantee: at `resourceVersion` V the content is exactly the cluster's pods at V, none missing and none too many, in every namespace. V
// only rises, unless everything is dropped (see below). So a pod that was read at a version r <= V and is not here is gone, whatever labels
// it had. How far V lags behind the cluster is not promised: a caller that needs a version waits for it with `reached`.
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
import { signOfLifeMs, type WatchEvent, type WatchSink } from "../kubernetes/watch-sink.ts";
import type { Clock } from "../process/clock.ts";
import { PodHeartbeats } from "./pod-heartbeats.ts";
import { PodsByLabels } from "./pods-by-labels.ts";

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
	readonly #byUid = new Map<string, PodRecord>();
	readonly #byName = new Map<string, Map<string, PodRecord>>();
	readonly #byLabels = new PodsByLabels();
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
		return this.#byUid.size;
	}

	pods(namespace: string): Iterable<PodRecord> {
		return this.#byName.get(namespace)?.values() ?? [];
	}

	selected(namespace: string, selector: LabelSelector): Iterable<PodRecord> {
		return this.#byLabels.selected(namespace, selector);
	}

	find(pod: Pick<PodReference, "namespace" | "uid">): PodRecord | undefined {
		const found = this.#byUid.get(pod.uid);
		return found?.namespace === pod.namespace ? found : undefined;
	}

	findByName(namespace: string, name: string): PodRecord | undefined {
		return this.#byName.get(namespace)?.get(name);
	}

	changesEveryMs(uid: string): number | undefined {
		return this.#heartbeats.everyMs(uid);
	}

	goneSince(uid: string): string {
		if (this.#byUid.has(uid)) return "";
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
		const changed = new Set(this.#byName.keys());
		const before = [...this.#byUid.keys()];
		this.#byUid.clear();
		this.#byName.clear();
		this.#byLabels.clear();
		for (const pod of pods) {
			this.#put(pod);
			changed.add(pod.namespace);
		}
		for (const uid of before) {
			if (this.#byUid.has(uid)) continue;
			this.#rememberDeletion(uid, resourceVersion);
			this.#heartbeats.forget(uid);
		}
		this.#goneFloor = resourceVersion;
		this.#synced = true;
		this.#advance(resourceVersion);
		for (const namespace of changed) this.#notify(namespace);
	}

	apply(event: WatchEvent<PodRecord>): void {
		const { object: pod, resourceVersion } = event;
		if (!this.#synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		const changes: PodChange[] = [];
		const before = this.#byUid.get(pod.uid);
		if (event.type === "DELETED") {
			this.#remove(before ?? pod);
			this.#rememberDeletion(pod.uid, resourceVersion);
			changes.push({ before: before ?? pod });
		} else {
			const replaced = this.findByName(pod.namespace, pod.name);
			if (replaced && replaced.uid !== pod.uid) {
				this.#remove(replaced);
				this.#rememberDeletion(replaced.uid, resourceVersion);
				changes.push({ before: replaced });
			}
			this.#heartbeats.changed(before, pod);
			this.#put(pod);
			changes.push({ before, after: pod });
		}
		this.#advance(resourceVersion);
		for (const change of changes) this.#notify(pod.namespace, change);
	}

	bookmark(resourceVersion: string): void {
		if (!this.#synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		this.#advance(resourceVersion);
	}

	reset(): void {
		const namespaces = [...this.#byName.keys()];
		this.#heartbeats.clear();
		this.#byUid.clear();
		this.#byName.clear();
		this.#byLabels.clear();
		this.#deletedAt.clear();
		this.#goneFloor = "";
		this.#resourceVersion = "";
		this.#synced = false;
		this.watchLost();
		for (const namespace of namespaces) this.#notify(namespace);
	}

	signOfLife(at: number): void {
		this.#lastSignAt = Math.max(this.#lastSignAt, at);
		this.#moved();
	}

	watchLost(): void {
		this.#lastSignAt = Number.NEGATIVE_INFINITY;
		this.#moved();
	}

	#put(pod: PodRecord): void {
		// Whatever is sent, a uid has one name and a name has one uid: a pod that is stored twice would count twice.
		const before = this.#byUid.get(pod.uid);
		const isMoved = before && (before.name !== pod.name || before.namespace !== pod.namespace);
		if (isMoved) this.#remove(before);
		const other = this.findByName(pod.namespace, pod.name);
		if (other && other.uid !== pod.uid) this.#remove(other);
		this.#byUid.set(pod.uid, pod);
		if (before && !isMoved) this.#byLabels.replace(before, pod);
		else this.#byLabels.add(pod);
		let namespace = this.#byName.get(pod.namespace);
		if (!namespace) this.#byName.set(pod.namespace, (namespace = new Map()));
		namespace.set(pod.name, pod);
	}

	#remove(pod: PodRecord): void {
		this.#byUid.delete(pod.uid);
		this.#byLabels.remove(pod);
		this.#heartbeats.forget(pod.uid);
		const namespace = this.#byName.get(pod.namespace);
		if (namespace?.get(pod.name)?.uid !== pod.uid) return;
		namespace.delete(pod.name);
		if (namespace.size === 0) this.#byName.delete(pod.namespace);
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
