// Indexes budgets by what their states depend on: their name, their Lease, and the labels of the pods that they select.
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { matchesSelector } from "../../disruption/budget/selector.ts";
import { WatchedState } from "./watched-state.ts";

type Labels = PodRecord["labels"];

interface Namespace {
	readonly states: Map<string, WatchedState>;
	/** Pods of one controller share one object for equal labels (pod-projection.ts), so each object is compared with each selector once. */
	selecting: WeakMap<Labels, readonly WatchedState[]>;
}

export class WatchedBudgets {
	readonly #namespaces = new Map<string, Namespace>();
	readonly #byKey = new Map<string, WatchedState>();
	readonly #byLease = new Map<string, WatchedState>();

	find(key: string): WatchedState | undefined {
		return this.#byKey.get(key);
	}

	ofLease(name: string): WatchedState | undefined {
		return this.#byLease.get(name);
	}

	all(): Iterable<WatchedState> {
		return this.#byKey.values();
	}

	of(namespace: string): Iterable<WatchedState> {
		return this.#namespaces.get(namespace)?.states.values() ?? [];
	}

	selecting(name: string, labels: Labels): readonly WatchedState[] {
		const namespace = this.#namespaces.get(name);
		if (!namespace) return [];
		let found = namespace.selecting.get(labels);
		if (!found) {
			found = [...namespace.states.values()].filter(({ selector }) => selector && matchesSelector(selector, labels));
			namespace.selecting.set(labels, found);
		}
		return found;
	}

	/** Sets the budgets of the namespace, or of all namespaces. Returns those that are new or changed, and those that are gone. */
	align(
		budgets: readonly MemberBudget[],
		namespace: string | undefined,
	): { readonly changed: readonly WatchedState[]; readonly gone: readonly WatchedState[] } {
		const gone = new Map(
			[...(namespace === undefined ? this.all() : this.of(namespace))].map((state) => [state.key, state]),
		);
		const changed: WatchedState[] = [];
		for (const budget of budgets) {
			const key = `${budget.name.namespace}/${budget.name.name}`;
			const before = this.#byKey.get(key);
			gone.delete(key);
			if (before && isSame(before.budget, budget)) continue;
			const state = new WatchedState(budget);
			if (before) this.#remove(before);
			this.#add(state);
			changed.push(state);
		}
		for (const state of gone.values()) this.#remove(state);
		return { changed, gone: [...gone.values()] };
	}

	#add(state: WatchedState): void {
		const { namespace: name } = state.name;
		let namespace = this.#namespaces.get(name);
		if (!namespace) this.#namespaces.set(name, (namespace = { states: new Map(), selecting: new WeakMap() }));
		namespace.states.set(state.key, state);
		namespace.selecting = new WeakMap();
		this.#byKey.set(state.key, state);
		this.#byLease.set(state.leaseName, state);
	}

	#remove(state: WatchedState): void {
		const { namespace: name } = state.name;
		const namespace = this.#namespaces.get(name);
		namespace?.states.delete(state.key);
		if (namespace) namespace.selecting = new WeakMap();
		if (namespace?.states.size === 0) this.#namespaces.delete(name);
		this.#byKey.delete(state.key);
		this.#byLease.delete(state.leaseName);
	}
}

function isSame(a: MemberBudget, b: MemberBudget): boolean {
	return a === b || JSON.stringify(a) === JSON.stringify(b);
}
