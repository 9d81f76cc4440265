// Judges whether an evicted pod's replacement finds a node, by its volumes, node selector, node affinity and tolerations. Free capacity,
// spread and affinity between pods are left to the scheduler.
import type {
	V1Node,
	V1NodeSelector,
	V1NodeSelectorRequirement,
	V1NodeSelectorTerm,
	V1Pod,
	V1Taint,
} from "@kubernetes/client-node";
import { meetsRequirement } from "../../disruption/budget/selector.ts";

export interface LocalVolume {
	readonly claim: string;
	readonly volume: string;
	readonly required: V1NodeSelector;
}

export type Placement =
	| { readonly kind: "somewhere" }
	/**
	 * The replacement may return to a drained node, because the pod tolerates the cordon. `isSure`: no other node accepts it at present.
	 */
	| { readonly kind: "returns"; readonly nodes: readonly string[]; readonly isSure: boolean; readonly message: string }
	/** The nodes that fit accept no pods at present. */
	| { readonly kind: "later"; readonly message: string }
	| { readonly kind: "nowhere"; readonly message: string };

interface PlacementLimits {
	readonly drained: ReadonlySet<string>;
	readonly volumes: readonly LocalVolume[];
	/** Treats nodes that are not drained as uncordoned. */
	readonly ignoresCordons?: boolean;
}

/** `nodes`: usually all of the cluster. `limits.drained`: names of the nodes that the drain cordons. */
export function findPlacement(pod: V1Pod, nodes: readonly V1Node[], limits: PlacementLimits): Placement {
	const elsewhere = placeElsewhere(pod, nodes, limits);
	if (!toleratesCordon(pod)) return elsewhere;
	const homes = nodes
		.filter(({ metadata }) => limits.drained.has(metadata?.name ?? ""))
		.filter((node) => limits.volumes.every(({ required }) => matchesNodeSelector(required, node)))
		.filter((node) => isWanted(pod, node) && taintsOf(node).every((taint) => tolerates(pod, taint)))
		.flatMap(({ metadata }) => metadata?.name ?? []);
	if (homes.length === 0) return elsewhere;
	const why = "it tolerates the cordon";
	return elsewhere.kind === "somewhere"
		? { kind: "returns", nodes: homes, isSure: false, message: why }
		: { kind: "returns", nodes: homes, isSure: true, message: `${why}, and ${elsewhere.message}` };
}

function placeElsewhere(
	pod: V1Pod,
	nodes: readonly V1Node[],
	{ drained, volumes, ignoresCordons = false }: PlacementLimits,
): Exclude<Placement, { readonly kind: "returns" }> {
	const others = nodes.filter(({ metadata }) => !drained.has(metadata?.name ?? ""));
	if (others.length === 0) return nowhere("no node of the cluster is left");
	const reachable = others.filter((node) => volumes.every(({ required }) => matchesNodeSelector(required, node)));
	const [local] = volumes;
	if (local && reachable.length === 0) {
		const homes = nodes.filter((node) => volumes.every(({ required }) => matchesNodeSelector(required, node)));
		const where = homes.map(({ metadata }) => metadata?.name).join(", ");
		return nowhere(
			`its volume ${local.claim} (PersistentVolume ${local.volume}) can be reached ` +
				(homes.length > 0 ? `from ${where} only` : "from no other node"),
		);
	}
	const wanted = reachable.filter((node) => isWanted(pod, node));
	if (wanted.length === 0) return nowhere("no other node fits its node selector or node affinity");
	const tolerated = wanted.filter((node) => taintsOf(node).every((taint) => isPassing(taint) || tolerates(pod, taint)));
	if (tolerated.length === 0) {
		const keys = new Set(wanted.flatMap((node) => taintsOf(node).map(({ key }) => key)));
		return nowhere(`it does not tolerate the taints of the other nodes (${[...keys].join(", ")})`);
	}
	const open = tolerated.filter(
		(node) =>
			taintsOf(node).every((taint) => tolerates(pod, taint)) &&
			(ignoresCordons || !isCordoned(node) || toleratesCordon(pod)),
	);
	if (open.length > 0) return { kind: "somewhere" };
	const names = tolerated.map(({ metadata }) => metadata?.name).join(", ");
	return { kind: "later", message: `the other nodes that fit take no pods at present: ${names}` };
}

function nowhere(message: string): Extract<Placement, { readonly kind: "nowhere" }> {
	return { kind: "nowhere", message };
}

function isWanted({ spec }: V1Pod, node: V1Node): boolean {
	const labels = node.metadata?.labels ?? {};
	const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
	const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
	return selected && (!required || matchesNodeSelector(required, node));
}

/** Terms are alternatives. An empty term matches nothing (component-helpers/scheduling/corev1/nodeaffinity). */
export function matchesNodeSelector({ nodeSelectorTerms }: V1NodeSelector, node: V1Node): boolean {
	return nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm, { metadata }: V1Node): boolean {
	if (matchExpressions.length + matchFields.length === 0) return false;
	const labels = metadata?.labels ?? {};
	const fields: Readonly<Record<string, string>> = { "metadata.name": metadata?.name ?? "" };
	return (
		matchExpressions.every((requirement) => meets(requirement, labels)) &&
		matchFields.every((requirement) => meets(requirement, fields))
	);
}

/** An unknown operator counts as met, so that an unclear case is not called impossible. */
function meets(
	{ key, operator, values = [] }: V1NodeSelectorRequirement,
	labels: Readonly<Record<string, string>>,
): boolean {
	const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
	switch (operator) {
		case "In":
		case "NotIn":
		case "Exists":
		case "DoesNotExist":
			return meetsRequirement({ key, operator, values }, labels);
		case "Gt":
			return value !== undefined && Number(value) > Number(values[0]);
		case "Lt":
			return value !== undefined && Number(value) < Number(values[0]);
		default:
			return true;
	}
}

/** Returns the taints that keep new pods away, except that of a cordon. */
function taintsOf({ spec }: V1Node): readonly V1Taint[] {
	return (spec?.taints ?? []).filter(({ effect, key }) => effect !== "PreferNoSchedule" && key !== cordonKey);
}

const cordonKey = "node.kubernetes.io/unschedulable";

function isCordoned({ spec }: V1Node): boolean {
	return spec?.unschedulable === true;
}

export function toleratesCordon(pod: V1Pod): boolean {
	return tolerates(pod, { key: cordonKey, effect: "NoSchedule" });
}

/** Whether Kubernetes adds this taint to a node with a problem, and removes it afterwards. */
function isPassing({ key }: V1Taint): boolean {
	return key.startsWith("node.kubernetes.io/") || key.startsWith("node.cloudprovider.kubernetes.io/");
}

function tolerates({ spec }: V1Pod, taint: V1Taint): boolean {
	return (spec?.tolerations ?? []).some(
		({ key = "", operator = "Equal", value = "", effect = "" }) =>
			(effect === "" || effect === taint.effect) &&
			(key === "" ? operator === "Exists" : key === taint.key) &&
			(operator === "Exists" || value === (taint.value ?? "")),
	);
}
