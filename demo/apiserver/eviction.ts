// Answers pods/eviction under PodDisruptionBudgets, in the steps of pkg/registry/core/pod/storage/eviction.go.
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, type JsonObject, listAt, numberAt, textAt } from "./api-object.ts";
import { type ApiAnswer, type ApiRequest, isDryRun, sentObject, storeKey } from "./api-request.ts";
import { type Condition, withCondition } from "./conditions.ts";
import { beginDeletion, checkPreconditions, type DeleteOptions, readDeleteOptions } from "./deletion.ts";
import type { ObjectStore } from "./object-store.ts";
import { builtInType } from "./resource-types.ts";
import { selectorOf } from "./selectors.ts";
import { badRequest, forbidden, notFound, StatusError, tooManyRequests } from "./status-error.ts";
import { refuseMissingNamespace } from "./writes.ts";

const pods = builtInType("pods");
const budgets = builtInType("poddisruptionbudgets.policy");
const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
const wouldViolate = "Cannot evict pod as it would violate the pod's disruption budget.";

export function evict(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const sent = sentObject(request);
	if (textAt(sent, "metadata.name") !== request.name) {
		throw badRequest("name in URL does not match name in Eviction object");
	}
	const body = isRecord(sent["deleteOptions"]) ? sent["deleteOptions"] : {};
	const options = readDeleteOptions(body, new URLSearchParams());
	const dryRun = isDryRun(request) || isDryRun({ ...request, body });
	refuseMissingNamespace(store, request, request.name);
	const pod = store.find(pods.key, storeKey(request));
	if (!pod) throw notFound(pods, request.name);
	const version = needsNoBudget(pod) ? versionOfDirect(pod, options) : versionUnderBudget(store, pod, options, dryRun);
	deleteEvicted(store, pod, { ...options, resourceVersion: version }, dryRun);
	return { code: 201, body: success };
}

function phaseIs(pod: ApiObject, ...phases: readonly string[]): boolean {
	return phases.includes(textAt(pod, "status.phase"));
}

function needsNoBudget(pod: ApiObject): boolean {
	return phaseIs(pod, "Succeeded", "Failed", "Pending") || pod.metadata.deletionTimestamp !== undefined;
}

/**
 * Returns the resourceVersion that the deletion requires. Without one in the request, a pending pod must be unchanged, because it may have
 * become ready. "" means any version.
 */
function versionOfDirect(pod: ApiObject, { resourceVersion }: DeleteOptions): string {
	const isOver = phaseIs(pod, "Succeeded", "Failed") || pod.metadata.deletionTimestamp !== undefined;
	return resourceVersion !== "" || isOver ? resourceVersion : pod.metadata.resourceVersion;
}

/** Takes a disruption from the pod's budget if the pod needs one. Returns the resourceVersion that the deletion requires, or "" for any. */
function versionUnderBudget(store: ObjectStore, pod: ApiObject, options: DeleteOptions, dryRun: boolean): string {
	const [budget, ...more] = store
		.list(budgets.key)
		.filter(({ metadata }) => metadata.namespace === pod.metadata.namespace)
		.filter((each) => selectorOf(each.spec?.["selector"])(pod));
	if (!budget) return options.resourceVersion;
	if (more.length > 0) {
		const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
		throw new StatusError({ code: 500, message });
	}
	if (!isReady(pod) && mayGoUnready(budget)) return pod.metadata.resourceVersion;
	takeDisruption(store, budget, pod, dryRun);
	return options.resourceVersion;
}

export function isReady(pod: ApiObject): boolean {
	return listAt(pod, "status.conditions").some(({ type, status }) => type === "Ready" && status === "True");
}

function mayGoUnready(budget: ApiObject): boolean {
	if (textAt(budget, "spec.unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
	const desired = numberAt(budget, "status.desiredHealthy") ?? 0;
	return desired > 0 && (numberAt(budget, "status.currentHealthy") ?? 0) >= desired;
}

function takeDisruption(store: ObjectStore, budget: ApiObject, pod: ApiObject, dryRun: boolean): void {
	const { name, generation = 0 } = budget.metadata;
	const status = budget.status ?? {};
	const count = (field: string): number => numberAt(status, field) ?? 0;
	const refuse = (message: string, retryAfterSeconds: number) =>
		tooManyRequests(wouldViolate, retryAfterSeconds, [{ reason: "DisruptionBudget", message }]);
	if (count("observedGeneration") < generation) {
		throw refuse(`The disruption budget ${name} is still being processed by the server.`, 10);
	}
	if (count("disruptionsAllowed") < 0) throw forbidden(budgets, name, "pdb disruptions allowed is negative");
	if (count("disruptionsAllowed") === 0) {
		const needs = `needs ${count("desiredHealthy")} healthy pods and has ${count("currentHealthy")} currently`;
		const why = count("currentHealthy") <= count("desiredHealthy") ? needs : "does not allow evicting pods currently";
		throw refuse(`The disruption budget ${name} ${why}`, 0);
	}
	if (dryRun) return;
	const disruptedPods: JsonObject = {
		...(isRecord(status["disruptedPods"]) ? status["disruptedPods"] : {}),
		[pod.metadata.name]: new Date().toISOString(),
	};
	const disruptionsAllowed = count("disruptionsAllowed") - 1;
	store.put(budgets.key, { ...budget, status: { ...status, disruptionsAllowed, disruptedPods } });
}

function deleteEvicted(store: ObjectStore, pod: ApiObject, options: DeleteOptions, dryRun: boolean): void {
	checkPreconditions(pods, pod, options);
	if (dryRun) return;
	const condition: Condition = {
		type: "DisruptionTarget",
		status: "True",
		reason: "EvictionByEvictionAPI",
		message: "Eviction API: evicting",
	};
	const marked = store.put(pods.key, { ...pod, status: withCondition(pod.status ?? {}, condition) });
	beginDeletion(store, pods, marked, options);
}
