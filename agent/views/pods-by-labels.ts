// Groups the pods of a view by the object of their labels, which the pods of one controller share (pod-projection.ts). So a selector is
// compared with a few sets of labels instead of 10,000 pods. The result is cached until the sets of labels change, because a watch on 1,000
// budgets uses 1,000 selectors again and again.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { type LabelSelector, matchesSelector } from "../../disruption/budget/selector.ts";

type Labels = PodRecord["labels"];

interface Namespace {
	readonly byLabels: Map<Labels, Set<PodRecord>>;
	/** The result of each selector. Replaced when the sets of labels change. */
	selected: WeakMap<LabelSelector, readonly Set<PodRecord>[]>;
}

export class PodsByLabels {
	readonly #namespaces = new Map<string, Namespace>();

	add(pod: PodRecord): void {
		let namespace = this.#namespaces.get(pod.namespace);
		if (!namespace) this.#namespaces.set(pod.namespace, (namespace = { byLabels: new Map(), selected: new WeakMap() }));
		let alike = namespace.byLabels.get(pod.labels);
		if (!alike) {
			namespace.byLabels.set(pod.labels, (alike = new Set()));
			namespace.selected = new WeakMap();
		}
		alike.add(pod);
	}

	/** Removes exactly this record. Other records of the same pod stay. */
	remove(pod: PodRecord): void {
		const namespace = this.#namespaces.get(pod.namespace);
		const alike = namespace?.byLabels.get(pod.labels);
		if (!namespace || !alike?.delete(pod) || alike.size > 0) return;
		namespace.byLabels.delete(pod.labels);
		namespace.selected = new WeakMap();
		if (namespace.byLabels.size === 0) this.#namespaces.delete(pod.namespace);
	}

	replace(before: PodRecord, after: PodRecord): void {
		// Added first: if both records have the same labels, their group is never empty, so the cached results stay.
		this.add(after);
		if (before !== after) this.remove(before);
	}

	clear(): void {
		this.#namespaces.clear();
	}

	*selected(name: string, selector: LabelSelector): Iterable<PodRecord> {
		const namespace = this.#namespaces.get(name);
		if (!namespace) return;
		let selected = namespace.selected.get(selector);
		if (!selected) {
			selected = [...namespace.byLabels].flatMap(([labels, alike]) =>
				matchesSelector(selector, labels) ? [alike] : [],
			);
			namespace.selected.set(selector, selected);
		}
		for (const alike of selected) yield* alike;
	}
}
