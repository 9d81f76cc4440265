// What the agent keeps in memory of its Leases and budgets, each from one watch. Neither proves anything: who decides
// reads the objects themselves. They say when something is worth a look, and what a Lease's holder has shown so far.
import type { MemberBudget } from "../disruption/cluster.ts";
import { namespaceLabel } from "../disruption/lease.ts";
import { compareResourceVersions } from "../disruption/resource-version.ts";
import type { ApiConnection } from "./api-connection.ts";
import { allBudgets } from "./budget-calls.ts";
import type { Clock } from "./clock.ts";
import type { LeaseObject } from "./cluster-api.ts";
import { readBudget, readLease } from "./kubernetes-objects.ts";
import { leasesPath } from "./lease-calls.ts";
import type { ListedResource } from "./paged-list.ts";
import { startWatch } from "./watch.ts";
import { signOfLifeMs, type WatchEvent, type WatchSink } from "./watch-sink.ts";

interface ObjectView {
	/** The first list is done. */
	readonly synced: boolean;
	/** The watch showed a sign of life in the last 5 s. */
	readonly live: boolean;
}

export interface LeaseView extends ObjectView {
	/** The latest Lease of this name that the watch has shown; there may be a later one. */
	find(name: string): LeaseObject | undefined;
	leases(): Iterable<LeaseObject>;
	/** Calls back with the name of every Lease that came, changed or went. */
	onChange(listener: (name: string) => void): () => void;
}

export interface BudgetView extends ObjectView {
	/** The budgets of a namespace, or of all. */
	budgets(namespace?: string): Iterable<MemberBudget>;
	/** Calls back with the namespace of every budget that came, changed or went. */
	onChange(listener: (namespace: string) => void): () => void;
}

/** The objects of one watch by a key of theirs. */
export class ObjectStore<T> implements WatchSink<T>, ObjectView {
	readonly #keyOf: (object: T) => string;
	readonly #clock: Pick<Clock, "now">;
	readonly #objects = new Map<string, T>();
	readonly #listeners = new Set<(object: T) => void>();
	#resourceVersion = "";
	#lastSignAt = Number.NEGATIVE_INFINITY;

	constructor(options: { readonly keyOf: (object: T) => string; readonly clock: Pick<Clock, "now"> }) {
		this.#keyOf = options.keyOf;
		this.#clock = options.clock;
	}

	get synced(): boolean {
		return this.#resourceVersion !== "";
	}

	get live(): boolean {
		return this.synced && this.#clock.now() - this.#lastSignAt < signOfLifeMs;
	}

	get(key: string): T | undefined {
		return this.#objects.get(key);
	}

	values(): Iterable<T> {
		return this.#objects.values();
	}

	/** Calls back with every object that came, changed or went. */
	onChange(listener: (object: T) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	replace(objects: readonly T[], resourceVersion: string): void {
		if (compareResourceVersions(resourceVersion, this.#resourceVersion) < 0) return;
		const before = new Map(this.#objects);
		this.#objects.clear();
		this.#resourceVersion = resourceVersion;
		for (const object of objects) {
			this.#objects.set(this.#keyOf(object), object);
			before.delete(this.#keyOf(object));
		}
		for (const object of [...before.values(), ...objects]) this.#notify(object);
	}

	apply({ type, object, resourceVersion }: WatchEvent<T>): void {
		if (!this.synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		this.#resourceVersion = resourceVersion;
		if (type === "DELETED") this.#objects.delete(this.#keyOf(object));
		else this.#objects.set(this.#keyOf(object), object);
		this.#notify(object);
	}

	bookmark(resourceVersion: string): void {
		if (!this.synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;
		this.#resourceVersion = resourceVersion;
	}

	reset(): void {
		const before = [...this.#objects.values()];
		this.#objects.clear();
		this.#resourceVersion = "";
		this.watchLost();
		for (const object of before) this.#notify(object);
	}

	signOfLife(at: number): void {
		this.#lastSignAt = Math.max(this.#lastSignAt, at);
	}

	watchLost(): void {
		this.#lastSignAt = Number.NEGATIVE_INFINITY;
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

/** A view and the end of its watch. */
export interface OpenView<V> {
	readonly view: V;
	close(): void;
}

/** All Leases of ours in the lease namespace. */
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
	const watch = startWatch({ ...options, resource, project: readLease, sink: store });
	return { view: leaseViewOf(store), close: () => watch.close() };
}

/** All budgets of the cluster. */
export function createBudgetView(options: ViewOptions): OpenView<BudgetView> {
	const store = new ObjectStore<MemberBudget>({
		clock: options.clock,
		keyOf: ({ name }) => `${name.namespace}/${name.name}`,
	});
	const watch = startWatch({ ...options, resource: allBudgets, project: readBudget, sink: store });
	return { view: budgetViewOf(store), close: () => watch.close() };
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
		leases: () => store.values(),
		onChange: (listener) => store.onChange(({ name }) => listener(name)),
	};
}

export function budgetViewOf(store: ObjectStore<MemberBudget>): BudgetView {
	return {
		get synced() {
			return store.synced;
		},
		get live() {
			return store.live;
		},
		budgets: (namespace) => {
			const all = [...store.values()];
			return namespace === undefined ? all : all.filter(({ name }) => name.namespace === namespace);
		},
		onChange: (listener) => store.onChange(({ name }) => listener(name.namespace)),
	};
}
