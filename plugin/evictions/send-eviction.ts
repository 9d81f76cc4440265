// Sends one request to evict or delete a pod, and classifies the answer. Also reads pods. One refusal can be recognised only by its
// wording, which the API server does not guarantee.
import type { PodReference } from "../../disruption/budget/cluster.ts";
import { preActivitiesOf } from "../../disruption/budget/pod.ts";
import { oneLine } from "../../disruption/printable.ts";
import { isRecord } from "../../disruption/record.ts";
import type { FoundPod } from "../../disruption/round/bind-to-version.ts";
import type { Evictor } from "../../disruption/round/eviction.ts";
import type { EvictionAnswer } from "../../disruption/round/ticket.ts";
import { isText } from "../../disruption/text.ts";
import type { EventSink } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { ApiError, ConnectionError, NotSentError, refusalReason } from "../kubernetes/api-error.ts";
import type { KubernetesClient } from "../kubernetes/kubernetes-client.ts";
import { podPath } from "../kubernetes/pod-path.ts";
import { hasNotStarted } from "../kubernetes/pod-status.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import type { V1Pod } from "@kubernetes/client-node";

export interface EvictionOptions {
	/** Below 0, the pod's own grace period applies. */
	readonly gracePeriodSeconds: number;
	/** Whether to send a DELETE instead of an eviction: Kubernetes' own budgets are then not checked. */
	readonly deletes: boolean;
	readonly dryRun: boolean;
}

export interface Preconditions {
	readonly uid: string;
	readonly resourceVersion?: string;
}

export interface EvictionRequest {
	readonly preconditions: Preconditions;
	readonly reservationId?: string;
	/** Called right before the request is written. If it returns false, nothing is sent. */
	readonly guard?: (() => boolean) | undefined;
}

/** The API server's answer if it refuses the eviction. The answers 404 and 409 are not refusals. */
export interface Refusal {
	/** blocked: refused for now (a budget, a webhook that fails, too many requests, a server in trouble). */
	readonly kind: "blocked" | "namespaceTerminating" | "denied";
	readonly message: string;
	readonly reason: Reason;
}

interface Answer {
	readonly status?: unknown;
	readonly message?: unknown;
}

/** The annotation on an Eviction that names its reservation. */
export const reservationAnnotation = "xpdb.form3.tech/reservation";

/** Sends the request once, unless `guard` returns false right before it is written. */
export async function requestEviction(
	client: KubernetesClient,
	pod: PodReference,
	options: EvictionOptions,
	{ preconditions, reservationId, guard }: EvictionRequest,
): Promise<EvictionAnswer<Refusal>> {
	const path = podPath(pod);
	const call = { retry: false, ...(guard && { guard }) };
	const deleteOptions = {
		preconditions,
		...(options.gracePeriodSeconds >= 0 && { gracePeriodSeconds: options.gracePeriodSeconds }),
		...(options.dryRun && { dryRun: ["All"] }),
	};
	try {
		const annotations = reservationId === undefined ? undefined : { [reservationAnnotation]: reservationId };
		const eviction = {
			apiVersion: "policy/v1",
			kind: "Eviction",
			metadata: { name: pod.name, namespace: pod.namespace, ...(annotations && { annotations }) },
			deleteOptions,
		};
		const { status, message } = options.deletes
			? await client.delete<Answer>(path, { apiVersion: "v1", kind: "DeleteOptions", ...deleteOptions }, call)
			: await client.post<Answer>(`${path}/eviction`, eviction, call);
		if (status !== "Failure") return { kind: "accepted" };
		// Some fake API servers answer 201 with a Status that says Failure.
		const why = typeof message === "string" && message !== "" ? message : "the eviction failed";
		return { kind: "refused", refusal: { kind: "denied", message: why, reason: "Refused" } };
	} catch (error) {
		if (error instanceof ApiError) return classifyRefusal(error);
		if (error instanceof ConnectionError) return { kind: "unknown", error };
		if (error instanceof NotSentError) return { kind: "notSent" };
		throw error;
	}
}

/** Classifies an answer other than 2xx. */
export function classifyRefusal(
	error: ApiError,
): Extract<EvictionAnswer<Refusal>, { kind: "gone" | "conflict" | "refused" }> {
	const { code, message } = error;
	if (code === 404) return { kind: "gone" };
	if (code === 409) return { kind: "conflict", message };
	return {
		kind: "refused",
		refusal: { kind: refusalKind(error), message: withItsBudget(error), reason: refusalReason(error) },
	};
}

/** Adds the cause, which names the PodDisruptionBudget and its numbers of required and healthy pods. The message itself does not. */
function withItsBudget({ message, causes }: ApiError): string {
	const [budget] = causes.filter(({ reason, message: which }) => reason === "DisruptionBudget" && which !== "");
	return budget === undefined ? message : `${message} ${oneLine(budget.message)}`;
}

function refusalKind({ code, message, causes }: ApiError): Refusal["kind"] {
	if (code === 429) return "blocked";
	if (code === 403 && causes.some(({ reason }) => reason === "NamespaceTerminating")) return "namespaceTerminating";
	// If two PodDisruptionBudgets cover one pod, the API server answers 500. Retrying does not help.
	const permanent = message.includes("more than one PodDisruptionBudget");
	return !permanent && (code === 500 || code === 503 || code === 504) ? "blocked" : "denied";
}

/** A pod as disruption/ needs it, with the API server's object. */
export interface ReadPod extends FoundPod {
	readonly hasNotStarted: boolean;
	readonly pod: V1Pod;
}

/**
 * Makes a consistent read of the pod. Undefined if it is gone, or if its name has another uid. Throws ConnectionError if the answer is not
 * a pod.
 */
export async function readPod(client: KubernetesClient, pod: PodReference): Promise<ReadPod | undefined> {
	let found: V1Pod;
	try {
		found = await client.get<V1Pod>(podPath(pod));
	} catch (error) {
		if (error instanceof ApiError && error.code === 404) return undefined;
		throw error;
	}
	const { uid, deletionTimestamp, resourceVersion, labels = {}, annotations = {} } = found.metadata ?? {};
	const isPod =
		isText(uid) &&
		isText(resourceVersion) &&
		(deletionTimestamp === undefined || isText(deletionTimestamp)) &&
		isRecord(labels) &&
		isRecord(annotations);
	if (!isPod) {
		const problem = new Error(`the answer for pod ${pod.namespace}/${pod.name} is not a pod`);
		throw new ConnectionError(client.server, problem);
	}
	if (uid !== pod.uid) return undefined;
	return {
		isTerminating: deletionTimestamp !== undefined,
		resourceVersion,
		labels,
		preActivities: preActivitiesOf(annotations),
		hasNotStarted: hasNotStarted(found),
		pod: found,
	};
}

export function podReader({ context, pod }: Pick<EvictionJob, "context" | "pod">): () => Promise<ReadPod | undefined> {
	return () => readPod(context.client, pod);
}

/** Reports a new attempt to evict the pod. `budgets` are those of its grant. */
export function tellEvicting(
	job: EvictionJob,
	{ deletes, dryRun }: EvictionOptions,
	budgets: readonly string[],
	emit: EventSink,
): void {
	job.attempts += 1;
	emit({
		type: "pod.evicting",
		...podEvent(job),
		dryRun: dryRun ? "server" : "none",
		deletes,
		budgets,
		attempt: job.attempts,
	});
}

/** Makes the evictor of one ticket. A test build wraps it in fail points. */
export type EvictorMaker = (job: EvictionJob, budgets: readonly string[]) => Evictor<Refusal>;

/** Each evictor reports one attempt, however often it has to send the eviction again. */
export function createEvictor(options: EvictionOptions, emit: EventSink): EvictorMaker {
	return (job, budgets) => {
		const { client } = job.context;
		let isTold = false;
		return {
			async evict(pod, preconditions, reservationId, guard) {
				if (!isTold) tellEvicting(job, options, budgets, emit);
				isTold = true;
				return requestEviction(client, pod, options, { preconditions, reservationId, guard });
			},
			read: async (pod) => readPod(client, pod),
		};
	};
}
