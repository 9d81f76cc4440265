// The pods of a view by the very object of their labels, which the pods of one controller share (pod-projection.ts): a selector
// is then compared with some sets of labels, instead of with 10,000 pods.
import type { PodRecord } from "../../disruption/pod.ts";

type Labels = PodRecord["labels"];

export class PodsByLabels {
	readonly #namespaces = new Map<string, Map<Labels, Set<PodRecord>>>();

	add(pod: PodRecord): void {
		let namespace = this.#namespaces.get(pod.namespace);
		if (!namespace) this.#namespaces.set(pod.namespace, (namespace = new Map()));
		let alike = namespace.get(pod.labels);
		if (!alike) namespace.set(pod.labels, (alike = new Set()));
		alike.add(pod);
	}

	/** This very record; others of the same pod stay. */
	remove(pod: PodRecord): void {
		const namespace = this.#namespaces.get(pod.namespace);
		const alike = namespace?.get(pod.labels);
		if (!namespace || !alike?.delete(pod) || alike.size > 0) return;
		namespace.delete(pod.labels);
		if (namespace.size === 0) this.#namespaces.delete(pod.namespace);
	}

	clear(): void {
		this.#namespaces.clear();
	}

	*selected(namespace: string, selects: (labels: Labels) => boolean): Iterable<PodRecord> {
		for (const [labels, alike] of this.#namespaces.get(namespace) ?? []) if (selects(labels)) yield* alike;
	}
}
