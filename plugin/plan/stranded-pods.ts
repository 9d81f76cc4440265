// Warns about evicted pods whose replacements would find no node, or may return to a drained node. While no replacement is healthy, budgets
// count the pod as down, so other pods may wait forever.
import type { Placement } from "./placement.ts";

export interface StrandedPod {
	readonly context: string;
	readonly namespace: string;
	readonly pod: string;
	readonly uid: string;
	readonly budgets: readonly string[];
	readonly placement: Exclude<Placement, { readonly kind: "somewhere" }>;
}

export interface StrandedWarning {
	readonly context: string;
	readonly reason: "NoOtherNode" | "ReturnsToNode";
	readonly message: string;
}

const maxNamedPods = 3;

/** Pods of a cluster with the same placement share one warning. */
export function strandedWarnings(pods: readonly StrandedPod[]): readonly StrandedWarning[] {
	const groups = Map.groupBy(pods, ({ context, placement }) => JSON.stringify([context, placement]));
	return [...groups.values()].flatMap((group) => {
		const [first] = group;
		if (!first) return [];
		const { context, placement } = first;
		const reason = placement.kind === "returns" ? "ReturnsToNode" : "NoOtherNode";
		return [{ context, reason, message: messageOf(group, placement) }];
	});
}

function messageOf(pods: readonly StrandedPod[], placement: StrandedPod["placement"]): string {
	const { kind, message } = placement;
	const names = pods.slice(0, maxNamedPods).map(({ namespace, pod }) => `${namespace}/${pod}`);
	const more = pods.length > names.length ? ` and ${pods.length - names.length} more` : "";
	const budgets = [...new Set(pods.flatMap((each) => each.budgets))];
	const [replacement, counts] = pods.length === 1 ? ["replacement", "it counts"] : ["replacements", "they count"];
	const until =
		kind !== "returns" && budgets.length > 0 ? `; until then ${counts} as down for budget ${budgets.join(", ")}` : "";
	const will = kind === "returns" ? returnText(placement) : kind === "nowhere" ? "will find no node" : "will wait";
	return `the ${replacement} of ${names.join(", ")}${more} ${will}: ${message}${until}`;
}

function returnText({ nodes, isSure }: Extract<StrandedPod["placement"], { readonly kind: "returns" }>): string {
	const which = nodes.length === 1 ? "which is" : "which are";
	return `${isSure ? "will" : "may"} return to ${nodes.join(", ")}, ${which} drained`;
}
