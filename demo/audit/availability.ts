import type { AuditEvent, AuditObject } from "./audit.ts";

/** The state of the fleet's selected pods right after one event. */
export type AvailabilitySample = {
	/** Microseconds since 1970. */
	readonly at: number;
	readonly cluster: string;
	readonly pod: string;
	readonly uid: string;
	readonly change: "created" | "ready" | "unready" | "evicted" | "deleted" | "finished" | "relabelled";
	readonly user: string;
	/** Whether a client removed a healthy pod, which a budget limits. A pod that becomes unready is an accident. */
	readonly disruption: boolean;
	readonly healthy: number;
	/** Expected minus healthy, never below zero. */
	readonly unavailable: number;
};

export type AvailabilityOptions = {
	readonly namespace: string;
	readonly matchLabels: Readonly<Record<string, string>>;
	/** Expected pods over all clusters. */
	readonly expected: number;
};

type Pod = {
	readonly cluster: string;
	readonly name: string;
	readonly uid: string;
	resourceVersion: bigint;
	selected: boolean;
	ready: boolean;
	/** Whether a deletion was accepted. Such a pod is not healthy, whatever its kubelet reports. */
	ending: boolean;
	readonly createdAt: number;
	endingAt: number;
};

type Step = { readonly at: number; readonly event: AuditEvent; readonly object: AuditObject | undefined };

// Users that delete only lost pods, or pods that must make room for more important ones.
const involuntaryUsers = new Set([
	"system:serviceaccount:kube-system:taint-eviction-controller",
	"system:serviceaccount:kube-system:node-controller",
	"system:serviceaccount:kube-system:pod-garbage-collector",
	"system:kube-scheduler",
]);

/**
 * Replays the API servers' changes to the selected pods, and computes after each how many pods are unavailable. It judges the safety tests
 * and the demonstration. It knows nothing of leases and budgets, so it shares no mistake with the code under test.
 *
 * An outage counts from the answer of the request that causes it to the arrival of the request that ends it, the shortest time that the log
 * allows. So every violation found did happen, but a violation shorter than a request can be missed.
 */
export function replayAvailability(
	events: readonly AuditEvent[],
	options: AvailabilityOptions,
): readonly AvailabilitySample[] {
	const pods = new Map<string, Pod>();
	const samples: AvailabilitySample[] = [];
	for (const step of stepsOf(events, options.namespace)) {
		const before = new Set([...pods.values()].filter(isHealthy));
		const changed = apply(step, pods, options.matchLabels);
		if (changed === undefined) {
			continue;
		}
		const healthy = [...pods.values()].filter(isHealthy).length;
		const { event } = step;
		samples.push({
			at: step.at,
			cluster: event.cluster,
			pod: changed.pod.name,
			uid: changed.pod.uid,
			change: changed.change,
			user: event.user,
			disruption:
				before.has(changed.pod) &&
				(changed.change === "evicted" || changed.change === "deleted") &&
				!involuntaryUsers.has(event.user) &&
				!event.groups.includes("system:nodes"),
			healthy,
			unavailable: Math.max(0, options.expected - healthy),
		});
	}
	return samples;
}

/**
 * Returns the disruptions after which more pods were unavailable than allowed. Accidents add to the unavailable pods, but are not
 * disruptions.
 */
export function findViolations(
	samples: readonly AvailabilitySample[],
	options: { readonly maxUnavailable: number },
): readonly AvailabilitySample[] {
	return samples.filter((sample) => sample.disruption && sample.unavailable > options.maxUnavailable);
}

/** Returns the most pods that were unavailable at once, after all expected pods had been healthy. Infinity if they never were. */
export function worstUnavailable(samples: readonly AvailabilitySample[]): number {
	const complete = samples.findIndex((sample) => sample.unavailable === 0);
	return complete === -1 ? Infinity : Math.max(...samples.slice(complete).map((sample) => sample.unavailable));
}

function stepsOf(events: readonly AuditEvent[], namespace: string): Step[] {
	return events
		.filter((event) => !event.dryRun && event.code >= 200 && event.code < 300 && event.namespace === namespace)
		.filter((event) => ["pods", "pods/status", "pods/eviction"].includes(event.resource))
		.flatMap((event): Step[] => {
			if (event.verb === "deletecollection") {
				return (event.response?.items ?? []).map((object) => ({ at: event.completedAt, event, object }));
			}
			const object =
				event.resource === "pods/eviction" || event.response?.kind === "Status" ? undefined : event.response;
			const makesAvailable = object !== undefined && !isDeletion(event) && isUp(object);
			return [{ at: makesAvailable ? event.receivedAt : event.completedAt, event, object }];
		})
		.toSorted((a, b) => a.at - b.at);
}

function isDeletion(event: AuditEvent): boolean {
	return event.verb === "delete" || event.verb === "deletecollection" || event.resource === "pods/eviction";
}

type Changed = { readonly pod: Pod; readonly change: AvailabilitySample["change"] };

function apply(step: Step, pods: Map<string, Pod>, matchLabels: Readonly<Record<string, string>>): Changed | undefined {
	const { event, object } = step;
	if (isDeletion(event)) {
		const pod = findVictim(step, pods);
		if (pod === undefined || pod.ending) {
			return undefined;
		}
		pod.ending = true;
		pod.endingAt = event.completedAt;
		return pod.selected ? { pod, change: event.resource === "pods/eviction" ? "evicted" : "deleted" } : undefined;
	}
	const metadata = object?.metadata;
	if (object === undefined || metadata?.uid === undefined || metadata.name === undefined) {
		return undefined;
	}
	const resourceVersion = BigInt(metadata.resourceVersion ?? "0");
	const selected = Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value);
	const known = pods.get(`${event.cluster}/${metadata.uid}`);
	const ready = isUp(object);
	const ending = metadata.deletionTimestamp !== undefined;
	if (known === undefined) {
		const { cluster, completedAt: createdAt } = event;
		const { name, uid } = metadata;
		const pod = { cluster, name, uid, resourceVersion, selected, ready, ending, createdAt, endingAt: createdAt };
		pods.set(`${event.cluster}/${metadata.uid}`, pod);
		return selected ? { pod, change: ready ? "ready" : "created" } : undefined;
	}
	// Answers can leave the server out of order. A pod's resourceVersions show the real order.
	if (resourceVersion < known.resourceVersion) {
		return undefined;
	}
	const was = { ...known };
	known.resourceVersion = resourceVersion;
	known.selected = selected;
	known.ready = ready;
	// An eviction by name may have been attributed to the wrong pod of that name. A later version of the pod corrects that.
	known.ending = ending || (known.ending && event.receivedAt <= known.endingAt);
	return changeOf(known, was, object);
}

function changeOf(pod: Pod, was: Pod, object: AuditObject): Changed | undefined {
	if (pod.selected !== was.selected) {
		return { pod, change: "relabelled" };
	}
	if (!pod.selected || pod.ready === was.ready) {
		return undefined;
	}
	const finished = object.status?.phase === "Succeeded" || object.status?.phase === "Failed";
	return { pod, change: pod.ready ? "ready" : finished ? "finished" : "unready" };
}

// An eviction answers only "Success". The pod is the one with the request's uid, or the one that lives under that name.
function findVictim(step: Step, pods: Map<string, Pod>): Pod | undefined {
	const { event, object } = step;
	const uid = object?.metadata?.uid ?? event.request?.deleteOptions?.preconditions?.uid;
	if (uid !== undefined) {
		return pods.get(`${event.cluster}/${uid}`);
	}
	const alive = [...pods.values()].filter(
		(pod) => pod.cluster === event.cluster && pod.name === event.name && !pod.ending,
	);
	return alive.findLast((pod) => pod.createdAt <= event.receivedAt) ?? alive.at(-1);
}

function isUp(object: AuditObject): boolean {
	const { status, metadata } = object;
	return (
		metadata?.deletionTimestamp === undefined &&
		status?.phase !== "Succeeded" &&
		status?.phase !== "Failed" &&
		status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true
	);
}

function isHealthy(pod: Pod): boolean {
	return pod.selected && pod.ready && !pod.ending;
}
