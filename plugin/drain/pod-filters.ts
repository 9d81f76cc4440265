// Decides which pods of a node a drain evicts, with kubectl's filters in kubectl's order (kubectl/pkg/drain/filters.go).
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../disruption/budget/pod.ts";
import { isTerminatingForLonger } from "../evictions/pod-termination.ts";
import { isFinished } from "../kubernetes/pod-status.ts";

export interface FilterOptions {
	readonly force: boolean;
	readonly ignoreDaemonSets: boolean;
	readonly deleteEmptyDirData: boolean;
	/** If above 0, skips pods whose deletionTimestamp is older than this. */
	readonly skipWaitAfterSeconds: number;
}

/** `message` says why the DaemonSet could not be read. */
export type DaemonSetState =
	| { readonly kind: "found" }
	| { readonly kind: "notFound"; readonly message: string }
	| { readonly kind: "failed"; readonly message: string };

export interface FilterEnvironment {
	readonly now: number;
	readonly findDaemonSet: (namespace: string, name: string) => Promise<DaemonSetState>;
}

interface FilterStatus {
	readonly takes: boolean;
	readonly reason: "okay" | "skip" | "warning" | "error";
	readonly message: string;
}

const okay: FilterStatus = { takes: true, reason: "okay", message: "" };
const skip: FilterStatus = { takes: false, reason: "skip", message: "" };
const takeWithWarning = (message: string): FilterStatus => ({ takes: true, reason: "warning", message });
const leaveWithWarning = (message: string): FilterStatus => ({ takes: false, reason: "warning", message });
const refuse = (message: string): FilterStatus => ({ takes: false, reason: "error", message });

const daemonSetFatal = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)";
const localStorageFatal = "Pods with local storage (use --delete-emptydir-data to override)";
const unmanagedFatal = "Pods that declare no controller (use --force to override)";
const mirrorAnnotation = "kubernetes.io/config.mirror";

export interface FilteredPods {
	readonly take: readonly V1Pod[];
	/** In the form "message: ns/pod, ns/pod; message: ns/pod". "" if there are none. */
	readonly warnings: string;
	/** One entry for each reason. If there is any, no pod of the node is evicted. */
	readonly errors: readonly string[];
	/** Each pod that caused one of those errors, with its reason. */
	readonly refused: readonly { readonly pod: V1Pod; readonly message: string }[];
	/** Pods that are skipped without an error. */
	readonly left: readonly V1Pod[];
}

/**
 * Runs the filters for each pod, in order, up to the first one that skips or refuses the pod. Only the message of the last filter that ran
 * is kept.
 */
export async function filterPods(
	pods: readonly V1Pod[],
	options: FilterOptions,
	environment: FilterEnvironment,
): Promise<FilteredPods> {
	const take: V1Pod[] = [];
	const warnings = new Map<string, string[]>();
	const errors = new Map<string, string[]>();
	const refused: { readonly pod: V1Pod; readonly message: string }[] = [];
	const left: V1Pod[] = [];
	for (const pod of pods) {
		const status = await judge(pod, options, environment);
		const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
		if (status.takes) take.push(pod);
		else if (status.reason === "error") refused.push({ pod, message: status.message });
		else left.push(pod);
		const group = status.reason === "warning" ? warnings : status.reason === "error" ? errors : undefined;
		group?.set(status.message, [...(group.get(status.message) ?? []), name]);
	}
	return {
		take,
		warnings: [...warnings].map(([message, names]) => `${message}: ${names.join(", ")}`).join("; "),
		errors: [...errors].map(([message, names]) => `cannot delete ${message}: ${names.join(", ")}`),
		refused,
		left,
	};
}

async function judge(pod: V1Pod, options: FilterOptions, environment: FilterEnvironment): Promise<FilterStatus> {
	let last = okay;
	for (const filter of [skipDeleted, daemonSet, mirrorPod, localStorage, unreplicated]) {
		last = await filter(pod, options, environment);
		if (!last.takes) return last;
	}
	return last;
}

type PodFilter = (
	pod: V1Pod,
	options: FilterOptions,
	environment: FilterEnvironment,
) => FilterStatus | Promise<FilterStatus>;

const skipDeleted: PodFilter = (pod, { skipWaitAfterSeconds }, { now }) =>
	isTerminatingForLonger(pod, skipWaitAfterSeconds, now) ? skip : okay;

const daemonSet: PodFilter = async (pod, options, { findDaemonSet }) => {
	const controller = controllerOf(pod);
	// Only the group apps/v1: a DaemonSet of another group is an ordinary controller.
	if (controller?.kind !== "DaemonSet" || controller.apiVersion !== "apps/v1") return okay;
	if (isFinished(pod)) return okay;
	const found = await findDaemonSet(pod.metadata?.namespace ?? "", controller.name);
	if (found.kind === "notFound" && options.force) return takeWithWarning(found.message);
	if (found.kind !== "found") return refuse(found.message);
	return options.ignoreDaemonSets ? leaveWithWarning("ignoring DaemonSet-managed Pods") : refuse(daemonSetFatal);
};

const mirrorPod: PodFilter = ({ metadata }) =>
	Object.hasOwn(metadata?.annotations ?? {}, mirrorAnnotation) ? skip : okay;

const localStorage: PodFilter = (pod, { deleteEmptyDirData }) => {
	const isLocal = pod.spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined && emptyDir !== null) ?? false;
	if (!isLocal || isFinished(pod)) return okay;
	return deleteEmptyDirData ? takeWithWarning("deleting Pods with local storage") : refuse(localStorageFatal);
};

const unreplicated: PodFilter = (pod, { force }) => {
	if (isFinished(pod) || controllerOf(pod)) return okay;
	return force ? takeWithWarning("deleting Pods that declare no controller") : refuse(unmanagedFatal);
};
