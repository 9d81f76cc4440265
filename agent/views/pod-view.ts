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
// `live` says whether changes of pods are seen soon. While it is false, counts list first, and no reservation ends on evidence without such
// a list, because a dead watch may show what was before a restore of etcd.
import type { PodReference } from "../../disruption/budget/cluster.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { compareResourceVersions, latestResourceVersion } from "../../disruption/resource-version.ts";
import type { LabelSelector } from "../../disruption/budget/selector.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import { signOfLifeMs, type WatchEvent, type WatchSink } from "../kubernetes/watch-sink.ts";
import type { Clock } from "../process/clock.ts";
import { PodHeartbeats } from "./pod-heartbeats.ts";
import { PodsByLabels } from "./pods-by-labels.ts";

/** `below`: even a list that began after the question is older than the wanted version. */
type ViewReach = { readonly kind: "reached" } | { readonly kind: "below"; readonly listed: string };

export interface PodView {
	/** Whether a list is stored: after the first one, except between a reset and the next list. Otherwise nothing here is an answer. */
	readonly synced: boolean;
	/** Whether a list is stored, and the watch has shown a sign of life in the last 5 s. */
	readonly live: boolean;
	/** The version that this view has reached: the highest of list, events and bookmarks. "" while no list is stored. */
	readonly resourceVersion: string;
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
	/**
	 * Resolves when the view has reached `version`. If its watch does not get there within a second, the view lists. The answer `below` means
	 * that `version` was seen before etcd was restored from a backup. Rejects if the list fails, or if `signal` aborts.
	 */
	reached(version: string, signal?: AbortSignal): Promise<ViewReach>;
	/** Whether the view reaches `version` within this time, by its watch or by a list that another caller requested. */
	arrives(version: string, withinMs: number): Promise<boolean>;
	/** Brings the content at least up to a consistent list that starts after this call. */
	refresh(): Promise<void>;
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
	readonly cluster: string;
	readonly clock: Clock;
	readonly listPods: ClusterApi["listPods"];
	/** How long `reached` waits for the watch before it lists. */
	readonly listAfterMs?: number;
	/** How many deletions are remembered by uid. For older ones, goneSince() returns a later version. */
	readonly deletionsKept?: number;
	/** Called if a list was older than the view, because the watch that feeds the store must start over too. */
	readonly onWentBack?: () => void;
}

interface Waiter {
	readonly version: string;
	readonly arrived: () => void;
}

/** Implements PodView. A watch or a test feeds it, and the only requests that it makes itself are lists. */
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
	/** Counts the resets, because a list that was requested before a reset is not an answer after it. */
	#life = 0;
	#listing: Promise<string> = Promise.resolve("");
	#nextListing: Promise<string> | undefined;
	readonly #heartbeats: PodHeartbeats;
	readonly #waiters = new Set<Waiter>();
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

	async reached(version: string, signal?: AbortSignal): Promise<ViewReach> {
		signal?.throwIfAborted();
		if (this.#has(version)) return { kind: "reached" };
		const { clock, listAfterMs = 1_000 } = this.#options;
		const { promise, resolve, reject } = Promise.withResolvers<ViewReach>();
		// Resolved by the watch, by a list that another caller requested, or by the list below, whichever comes first.
		const arrived = () => resolve({ kind: "reached" });
		const waiter: Waiter = { version, arrived };
		const aborted = () => reject(signal?.reason);
		const listed = (at: string) => (this.#has(version) ? arrived() : resolve({ kind: "below", listed: at }));
		const cancelTimer = clock.after(listAfterMs, () => void this.#listAnew().then(listed, reject));
		this.#waiters.add(waiter);
		signal?.addEventListener("abort", aborted, { once: true });
		try {
			return await promise;
		} finally {
			this.#waiters.delete(waiter);
			signal?.removeEventListener("abort", aborted);
			cancelTimer();
		}
	}

	async arrives(version: string, withinMs: number): Promise<boolean> {
		if (this.#has(version)) return true;
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const waiter: Waiter = { version, arrived: () => resolve(true) };
		const cancelTimer = this.#options.clock.after(withinMs, () => resolve(false));
		this.#waiters.add(waiter);
		const arrived = await promise;
		this.#waiters.delete(waiter);
		cancelTimer();
		return arrived;
	}

	async refresh(): Promise<void> {
		await this.#listAnew();
	}

	/** Returns the version of a list that begins after this call. */
	#listAnew(): Promise<string> {
		// The list under way may show a state from before this call. So this call waits for the next list, which all callers until its start
		// share.
		this.#nextListing ??= this.#startAfter(this.#listing);
		return this.#nextListing;
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
		this.#life++;
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
	}

	watchLost(): void {
		this.#lastSignAt = Number.NEGATIVE_INFINITY;
	}

	#has(version: string): boolean {
		return this.#synced && compareResourceVersions(this.#resourceVersion, version) >= 0;
	}

	async #startAfter(listing: Promise<string>): Promise<string> {
		await listing.catch(() => undefined); // Its own callers got the error.
		this.#nextListing = undefined;
		this.#listing = this.#list();
		return this.#listing;
	}

	async #list(): Promise<string> {
		for (;;) {
			const { resourceVersion: before } = this;
			const life = this.#life;
			const { pods, resourceVersion } = await this.#options.listPods();
			if (life !== this.#life) continue;
			if (compareResourceVersions(resourceVersion, before) < 0) {
				this.reset();
				this.#options.onWentBack?.();
			}
			this.replace(pods, resourceVersion);
			return resourceVersion;
		}
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
		for (const waiter of this.#waiters) if (this.#has(waiter.version)) waiter.arrived();
	}

	#notify(namespace: string, change?: PodChange): void {
		for (const listener of this.#listeners) listener(namespace, change);
	}
}
