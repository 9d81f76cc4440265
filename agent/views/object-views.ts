// Keeps the agent's Leases and budgets in memory, each from one watch. The views show when something may have changed, and which signs of
// life a Lease's holder has given. Neither is proof by itself. A decision reads each budget, and takes names of budgets from the view only
// after a recent comparison with a list. It takes Leases from the view only if the view has reached the version of the Lease under which
// pods are counted.
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { namespaceLabel } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import { allBudgets, listBudgetVersions } from "../cluster-api/budget-calls.ts";
import { knownMembersLease } from "../cluster-api/known-members-lease.ts";
import { leasesPath } from "../cluster-api/lease-calls.ts";
import { readBudget } from "../cluster-api/read-budget.ts";
import { readWatchedLease } from "../cluster-api/read-lease.ts";
import { createApiAsker } from "../kubernetes/api-asker.ts";
import type { ApiConnection } from "../kubernetes/api-connection.ts";
import type { ListedResource } from "../kubernetes/paged-list.ts";
import { startWatch } from "../kubernetes/watch.ts";
import { signOfLifeMs, type WatchEvent, type WatchSink } from "../kubernetes/watch-sink.ts";
import type { Clock } from "../process/clock.ts";
import { WatchComparison } from "./watch-comparison.ts";

/**
 * The event of a process's own write arrives at about the same time as the write's answer. A watch that lags by more than this is in
 * trouble.
 */
const reachedWithinMs = 500;

interface ObjectView {
	/** Whether a list is stored: after the first one, except between a reset and the next list. */
	readonly synced: boolean;
	/** Whether a list is stored, and the watch has shown a sign of life in the last 5 s. */
	readonly live: boolean;
}

export interface LeaseView extends ObjectView {
	/** Returns the latest version of this Lease that the watch has shown. There may be a later one. */
	find(name: string): LeaseObject | undefined;
	/** Returns the Leases of budgets, without that of the known members. */
	leases(): Iterable<LeaseObject>;
	/**
	 * Resolves with true once the view has everything up to this version. Resolves with false if it does not get there within half a second,
	 * or if its watch is dead.
	 */
	reached(version: string): Promise<boolean>;
	/** Calls back with the name of every Lease that changed or may have changed, the known members' Lease too. */
	onChange(listener: (name: string) => void): () => void;
}

export interface BudgetView extends ObjectView {
	/** Whether the watch is alive, and its last successful comparison with a consistent list began in the last 5 s. */
	readonly proven: boolean;
	/** Compares the view with lists for a while, because a caller that needs budgets will probably need them again soon. */
	wanted(): void;
	/** If no namespace is named, it returns the budgets of all namespaces. */
	budgets(namespace?: string): Iterable<MemberBudget>;
	/** Calls back with the namespace of every budget that changed or may have changed. */
	onChange(listener: (namespace: string) => void): () => void;
}

/** Stores the objects of one watch, by a key. */
export class ObjectStore<T> implements WatchSink<T>, ObjectView {
	readonly keyOf: (object: T) => string;
	readonly #clock: Pick<Clock, "now" | "after">;
	readonly #waiters = new Set<() => void>();
	readonly #objects = new Map<string, T>();
	readonly #namespaceOf: ((object: T) => string) | undefined;
	/** The objects of each namespace, by their keys. */
	readonly #byNamespace = new Map<string, Map<string, T>>();
	readonly #listeners = new Set<(object: T) => void>();
	#resourceVersion = "";
	#lastSignAt = Number.NEGATIVE_INFINITY;

	/** With `namespaceOf`, the objects of one namespace are found without a search. */
	constructor(options: {
		readonly keyOf: (object: T) => string;
		readonly namespaceOf?: (object: T) => string;
		readonly clock: Pick<Clock, "now" | "after">;
	}) {
		this.keyOf = options.keyOf;
		this.#namespaceOf = options.namespaceOf;
		this.#clock = options.clock;
	}

	get synced(): boolean {
		return this.#resourceVersion !== "";
	}

	get live(): boolean {
		return this.synced && this.#clock.now() - this.#lastSignAt < signOfLifeMs;
	}

	/** The version that the watch has reached, or "" while no list is stored. */
	get resourceVersion(): string {
		return this.#resourceVersion;
	}

	get(key: string): T | undefined {
		return this.#objects.get(key);
	}

	values(): Iterable<T> {
		return this.#objects.values();
	}

	/** Empty for a store without `namespaceOf`. */
	inNamespace(namespace: string): Iterable<T> {
		return this.#byNamespace.get(namespace)?.values() ?? [];
	}

	reached(version: string): Promise<boolean> {
		return this.becomes(() => compareResourceVersions(this.#resourceVersion, version) >= 0);
	}

	/** Resolves with true once the condition holds. Resolves with false if it does not hold within half a second, or if the watch is dead. */
	async becomes(isSo: () => boolean): Promise<boolean> {
		const has = (): boolean => this.live && isSo();
		if (has() || !this.live) return has();
		const { promise, resolve } = Promise.withResolvers<void>();
		const look = (): void => {
			if (has() || !this.live) resolve();
		};
		const cancelTimer = this.#clock.after(reachedWithinMs, resolve);
		this.#waiters.add(look);
		await promise;
		this.#waiters.delete(look);
		cancelTimer();
		return has();
	}

	onChange(listener: (object: T) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	replace(objects: readonly T[], resourceVersion: string): void {
		if (compareResourceVersions(resourceVersion, this.#resourceVersion) < 0) return;
		const before = new Map(this.#objects);
		this.#clear();
		this.#resourceVersion = resourceVersion;
		for (const object of objects) {
			this.#put(object);
			before.delete(this.keyOf(object));
		}
		for (const object of [...before.values(), ...objects]) this.#notify(object);
		this.#moved();
	}

	apply({ type, object, resourceVersion }: WatchEvent<T>): void {
		if (!this.synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		this.#resourceVersion = resourceVersion;
		if (type === "DELETED") this.#remove(this.keyOf(object));
		else this.#put(object);
		this.#notify(object);
		this.#moved();
	}

	bookmark(resourceVersion: string): void {
		if (!this.synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		this.#resourceVersion = resourceVersion;
		this.#moved();
	}

	reset(): void {
		const before = [...this.#objects.values()];
		this.#clear();
		this.#resourceVersion = "";
		this.watchLost();
		for (const object of before) this.#notify(object);
	}

	signOfLife(at: number): void {
		this.#lastSignAt = Math.max(this.#lastSignAt, at);
	}

	watchLost(): void {
		this.#lastSignAt = Number.NEGATIVE_INFINITY;
		this.#moved();
	}

	#put(object: T): void {
		const key = this.keyOf(object);
		const before = this.#objects.get(key);
		const name = this.#namespaceOf?.(object);
		if (before !== undefined && name !== undefined && this.#namespaceOf?.(before) !== name) this.#remove(key);
		this.#objects.set(key, object);
		if (name === undefined) return;
		let namespace = this.#byNamespace.get(name);
		if (!namespace) this.#byNamespace.set(name, (namespace = new Map()));
		namespace.set(key, object);
	}

	#remove(key: string): void {
		const object = this.#objects.get(key);
		if (object === undefined) return;
		this.#objects.delete(key);
		const name = this.#namespaceOf?.(object);
		const namespace = name === undefined ? undefined : this.#byNamespace.get(name);
		if (name === undefined || !namespace?.delete(key) || namespace.size > 0) return;
		this.#byNamespace.delete(name);
	}

	#clear(): void {
		this.#objects.clear();
		this.#byNamespace.clear();
	}

	#moved(): void {
		for (const look of this.#waiters) look();
	}

	#notify(object: T): void {
		for (const listener of this.#listeners) listener(object);
	}
}

export interface ViewOptions {
	readonly connection: ApiConnection;
	readonly clock: Clock;
	/** From 0 to 1, for the jitter of pauses. */
	readonly random: () => number;
	readonly warn: (message: string) => void;
}

interface OpenView<V> {
	readonly view: V;
	close(): void;
}

/** Watches the Leases of all agents in the lease namespace. */
export function createLeaseView(options: ViewOptions & { readonly namespace: string }): OpenView<LeaseView> {
	const { clock, namespace } = options;
	const store = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
	const resource: ListedResource = {
		name: "leases",
		path: leasesPath(namespace),
		labelSelector: namespaceLabel,
		resource: "leases",
		group: "coordination.k8s.io",
		namespace,
	};
	const { cluster } = options.connection;
	const project = (object: unknown): LeaseObject => readWatchedLease(object, cluster);
	// Counts depend on Leases, so they are listed again whenever the watch ended. Another API server, or an etcd that was restored from a
	// backup, may answer next.
	const watch = startWatch({ ...options, resource, project, sink: store, listsAnew: true });
	return { view: leaseViewOf(store), close: () => watch.close() };
}

/** Watches all budgets of the cluster, and compares the watch with lists while callers need budgets. */
export function createBudgetView(
	options: ViewOptions & { readonly report: (problem: unknown) => void },
): OpenView<BudgetView> {
	const store = new ObjectStore<MemberBudget>({
		clock: options.clock,
		keyOf: ({ name }) => `${name.namespace}/${name.name}`,
		namespaceOf: ({ name }) => name.namespace,
	});
	const { connection, clock, warn, report } = options;
	const watch = startWatch({ ...options, resource: allBudgets, project: readBudget, sink: store });
	const asker = createApiAsker(connection);
	const comparison = new WatchComparison({
		store,
		list: () => listBudgetVersions(asker),
		clock,
		onDifferent: (names) => {
			const some = names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
			warn(
				`the watch on XPodDisruptionBudgets of cluster "${connection.cluster}" and a list differ in ${some}: opening the watch again`,
			);
			watch.restart();
		},
		report,
	});
	return {
		view: budgetViewOf(store, comparison),
		close: () => {
			comparison.close();
			watch.close();
		},
	};
}

export function leaseViewOf(store: ObjectStore<LeaseObject>): LeaseView {
	return {
		get synced() {
			return store.synced;
		},
		get live() {
			return store.live;
		},
		find: (name) => store.get(name),
		leases: () => budgetLeases(store),
		reached: (version) => store.reached(version),
		onChange: (listener) => store.onChange(({ name }) => listener(name)),
	};
}

/** The Lease of the known members belongs to no budget, so it is not swept, counted or deleted. */
function* budgetLeases(store: ObjectStore<LeaseObject>): Iterable<LeaseObject> {
	for (const lease of store.values()) if (lease.name !== knownMembersLease) yield lease;
}

export function budgetViewOf(
	store: ObjectStore<MemberBudget>,
	comparison: Pick<WatchComparison<MemberBudget>, "isRecent" | "wanted">,
): BudgetView {
	return {
		get proven() {
			return store.live && comparison.isRecent;
		},
		wanted: () => comparison.wanted(),
		get synced() {
			return store.synced;
		},
		get live() {
			return store.live;
		},
		budgets: (namespace) => {
			return [...(namespace === undefined ? store.values() : store.inNamespace(namespace))];
		},
		onChange: (listener) => store.onChange(({ name }) => listener(name.namespace)),
	};
}
