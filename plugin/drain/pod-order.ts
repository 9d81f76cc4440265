// Orders the pods of a node in groups. Each group is evicted when the pods of the previous one are gone.
import type { V1Pod } from "@kubernetes/client-node";
import { UsageError } from "../terminal/errors.ts";

export type PodOrder =
	| { readonly kind: "none" }
	/** Lowest priority first. */
	| { readonly kind: "priority" }
	/** By the value of a label: as numbers if all values are numbers, otherwise as text. Pods without the label come last. */
	| { readonly kind: "label"; readonly key: string };

/** A qualified name, which is the form of a label's key: an optional DNS prefix and "/", then a name. */
const labelKey =
	/^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Throws UsageError if the text is neither "priority" nor a label's key. "" means no order. */
export function parsePodOrder(text: string): PodOrder {
	if (text === "") return { kind: "none" };
	if (text === "priority") return { kind: "priority" };
	if (!labelKey.test(text)) {
		throw new UsageError(`--order-by must be a label's key or "priority", is ${JSON.stringify(text)}`);
	}
	return { kind: "label", key: text };
}

/** Returns the pods in groups that are evicted one after the other. A group keeps the order of its pods and is never empty. */
export function orderPods(pods: readonly V1Pod[], order: PodOrder): readonly (readonly V1Pod[])[] {
	switch (order.kind) {
		case "none":
			return pods.length > 0 ? [pods] : [];
		case "priority":
			return groupsOf(pods, ({ spec }) => spec?.priority ?? 0);
		case "label": {
			const valueOf = ({ metadata }: V1Pod): string | undefined => {
				const labels = metadata?.labels ?? {};
				return Object.hasOwn(labels, order.key) ? labels[order.key] : undefined;
			};
			const values = pods.map(valueOf).filter((value) => value !== undefined);
			const areNumbers = values.every((value) => /^\d+(\.\d+)?$/.test(value));
			const keyOf = (pod: V1Pod): string | number | undefined => {
				const value = valueOf(pod);
				return areNumbers && value !== undefined ? Number(value) : value;
			};
			return groupsOf(pods, keyOf);
		}
	}
}

function groupsOf(
	pods: readonly V1Pod[],
	keyOf: (pod: V1Pod) => string | number | undefined,
): readonly (readonly V1Pod[])[] {
	const groups = Map.groupBy(pods, keyOf);
	return [...groups.keys()].toSorted(compare).flatMap((key) => {
		const group = groups.get(key);
		return group ? [group] : [];
	});
}

function compare(a: string | number | undefined, b: string | number | undefined): number {
	if (a === b) return 0;
	if (a === undefined) return 1;
	if (b === undefined) return -1;
	return a < b ? -1 : 1;
}
