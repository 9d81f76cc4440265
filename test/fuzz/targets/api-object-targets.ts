// Targets for API objects that the agent reads: pods, nodes, controllers, budgets, workloads, scales, lists and refusals.
import fc from "fast-check";
import { getScale } from "../../../agent/cluster-api/controller-scale.ts";
import { createPodProjection } from "../../../agent/cluster-api/pod-projection.ts";
import { readBudget } from "../../../agent/cluster-api/read-budget.ts";
import { createWorkloadProjection, workloadKinds } from "../../../agent/cluster-api/workload-record.ts";
import { createApiAsker } from "../../../agent/kubernetes/api-asker.ts";
import type { ApiAnswer } from "../../../agent/kubernetes/api-connection.ts";
import { isMissingObject, refusal, statusMessage } from "../../../agent/kubernetes/api-refusal.ts";
import { createDiscovery } from "../../../agent/kubernetes/discovery.ts";
import { listPage, objectMeta } from "../../../agent/kubernetes/kubernetes-objects.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { controllerOf, type PodRecord } from "../../../disruption/budget/pod.ts";
import { isHealthy } from "../../../disruption/budget/healthy.ts";
import { isResourceVersion } from "../../../disruption/resource-version.ts";
import { createAnsweringConnection } from "../answering-connection.ts";
import { attempt, attemptAsync, demandClearText } from "../clear-error.ts";
import { asyncTarget, demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { edited } from "../json-edits.ts";
import { type Json, oddValue } from "../odd-values.ts";
import {
	budgetSpecs,
	controller,
	node,
	podObjects,
	replicaSet,
	resourceList,
	scaleObject,
	statefulSet,
	statusObjects,
} from "../seed-objects.ts";

type Fields = Readonly<Record<string, unknown>>;
const record = (value: unknown): Fields =>
	typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function demandRecord(pod: unknown, found: PodRecord): void {
	const metadata = record(record(pod)["metadata"]);
	const status = record(record(pod)["status"]);
	demand([found.uid, found.name, found.namespace].every(isText), "It took a pod that cannot be named");
	demand(isResourceVersion(found.resourceVersion), "It took a version that cannot be ordered");
	demand(typeof found.node === "string", "It took a node that is no text");
	for (const value of Object.values(found.labels)) demand(typeof value === "string", "It took a label that is no text");
	for (const key of Object.keys(record(metadata["labels"]))) {
		demand(key === "__proto__" || Object.hasOwn(found.labels, key), "It lost a label");
	}
	const { controller: owner } = found;
	if (owner) demand([owner.apiVersion, owner.kind, owner.name, owner.uid].every(isText), "It took half a controller");
	const deleted = metadata["deletionTimestamp"];
	// A terminating pod is evicted without a grant, so it must really be terminating.
	demand(found.terminating === isText(deleted), "It took a pod for terminating, or for staying, that is not");
	demand(found.finished === ["Succeeded", "Failed"].includes(String(status["phase"])), "It took a pod for finished");
	const conditions = Array.isArray(status["conditions"]) ? (status["conditions"] as unknown[]).map(record) : [];
	const ready = conditions.some(({ type, status: value }) => type === "Ready" && value === "True");
	demand(!isHealthy(found) || (ready && !isText(deleted)), "It took a pod for healthy that is not");
}

const podTarget: FuzzTarget = {
	name: "pod",
	reads: "pods",
	share: 3,
	open: () => {
		const project = createPodProjection();
		return syncTarget(edited(podObjects), (pod) => {
			const found = attempt(() => project(pod), [TypeError], /^cannot read pod/);
			if (found) demandRecord(pod, found);
		});
	},
};

const objects: readonly Json[] = [
	node,
	statefulSet,
	replicaSet,
	...budgetSpecs.map((spec) => ({ metadata: { name: "db", namespace: "shop", uid: "u", resourceVersion: "8" }, spec })),
	{ kind: "PodList", metadata: { resourceVersion: "120", continue: "abc" }, items: podObjects },
	{ kind: "PodList", metadata: { resourceVersion: "120" }, items: null },
];

const objectTarget: FuzzTarget = {
	name: "object",
	reads: "nodes, controllers, budgets and lists",
	share: 2,
	open: () =>
		syncTarget(edited(objects), (object) => {
			const meta = attempt(() => objectMeta(object), [TypeError], /^cannot read object/);
			if (meta) {
				demand(isText(meta.name) && isText(meta.uid), "It took an object that cannot be named");
				demand(isResourceVersion(meta.resourceVersion), "It took a version that cannot be ordered");
			}
			const owner = attempt(() => controllerOf(object), [TypeError], /^cannot read object/);
			if (owner)
				demand([owner.apiVersion, owner.kind, owner.name, owner.uid].every(isText), "It took half a controller");
			const page = attempt(() => listPage(object), [TypeError], /^cannot read list/);
			if (page) {
				demand(isResourceVersion(page.resourceVersion), "It took a list that has no version");
				demand(page.items.length === 0 || page.items === record(object)["items"], "It took other items");
			}
			const read = attempt(() => readBudget(object), [TypeError], /^cannot read/);
			if (read) demand(isText(read.name.name) && isText(read.name.namespace), "It took a budget without a name");
		}),
};

const workload = { ...controller };
const database = { apiVersion: "db.example.com/v1", kind: "Database", name: "big", uid: "uid-of-big" };
const references: readonly Json[] = [
	workload,
	{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "uid-of-web-1" },
	database,
	{ apiVersion: "apps/v1", kind: "DaemonSet", name: "logs", uid: "uid-of-logs" },
];

const answers = fc.oneof(
	{ weight: 6, arbitrary: edited([statefulSet, replicaSet, scaleObject]) },
	{ weight: 1, arbitrary: edited(statusObjects) },
	{ weight: 1, arbitrary: oddValue },
);
const statuses = fc.oneof(
	{ weight: 6, arbitrary: fc.constant(200) },
	{ weight: 1, arbitrary: fc.constantFrom(201, 204, 301, 400, 401, 403, 404, 409, 410, 429, 500, 503, 504, 0, 999) },
);

const scaleTarget: FuzzTarget = {
	name: "scale",
	reads: "controllers, scales and discovery, and the references that lead there",
	share: 1,
	open: () => {
		const whole = fc.constantFrom<readonly Json[]>(...references.map((one) => [one]));
		const garbled = edited([workload, database]).map((one) => [one]);
		const kinds = fc.oneof(
			{ weight: 3, arbitrary: fc.constant<Json>(resourceList as Json) },
			{ weight: 1, arbitrary: edited([resourceList]) },
		);
		const input = fc.record({
			references: fc.oneof({ weight: 2, arbitrary: whole }, { weight: 1, arbitrary: garbled }),
			body: answers,
			status: statuses,
			kinds,
		});
		return asyncTarget(input, async ({ references: [reference], body, status, kinds: list }) => {
			// getScale() never gets incomplete references: its callers take them from pods and Leases that were read successfully.
			const owner = attempt(
				() => controllerOf({ metadata: { ownerReferences: [{ ...record(reference), controller: true }] } }),
				[TypeError],
			);
			if (!owner) return;
			const connection = createAnsweringConnection({
				answer: ({ path }) => (/^\/apis\/[^/]+\/[^/]+$/.test(path) ? { status: 200, body: list } : { status, body }),
			});
			const asker = createApiAsker(connection);
			const discovery = createDiscovery(asker, { now: () => 0 });
			const answer = await attemptAsync(
				() => getScale(owner, "shop", { asker, discovery }),
				[AgentUnavailableError],
				"eu-1",
			);
			if (!answer) return;
			if (answer.kind === "gone") {
				const missing = status === 404 && record(record(body)["details"])["name"] === owner.name;
				const { groups } = record(body);
				const unserved = status < 300 && Array.isArray(groups) && owner.apiVersion.includes("/");
				demand(missing || unserved, "It took a controller for gone that may be there");
			}
			if (answer.kind !== "replicas") return;
			const { replicas, ownedBy } = answer;
			const said = record(record(body)["spec"])["replicas"];
			demand(Number.isInteger(replicas) && replicas >= 0 && replicas < 2 ** 31, `It took ${replicas} replicas`);
			// Fewer expected pods allow more evictions, so only the object may lower them. Only a Scale leaves out 0.
			const isScale = owner.apiVersion !== "apps/v1";
			demand(
				said === replicas || (isScale && replicas === 0 && (said === undefined || said === null)),
				"It made replicas up",
			);
			if (ownedBy) demand([ownedBy.kind, ownedBy.name, ownedBy.uid].every(isText), "It took half an owner");
		});
	},
};

const refusalTarget: FuzzTarget = {
	name: "api-refusal",
	reads: "what an API server says instead of an answer, read by the agent",
	share: 1,
	open: () =>
		syncTarget(fc.tuple(fc.oneof(edited(statusObjects), oddValue), statuses), ([body, status]) => {
			const answer: ApiAnswer = { status, body };
			const question = { what: 'read pod "shop/db-0"', verb: "get", resource: "pods", group: "", namespace: "shop" };
			const { message } = refusal(answer, question, "eu-1");
			demandClearText(message, "eu-1", "db-0", String(status));
			demand(statusMessage(answer).length <= 500, "It passes on more than a line or two");
			if (!isMissingObject(answer, "db-0")) return;
			demand(
				status === 404 && record(record(body)["details"])["name"] === "db-0",
				"It took a pod for gone that may be there",
			);
		}),
};

const workloadTarget: FuzzTarget = {
	name: "workload",
	reads: "workloads, as lists and watches have them",
	share: 1,
	open: () => {
		const [kind] = workloadKinds;
		if (!kind) throw new Error("there are five kinds");
		const project = createWorkloadProjection(kind);
		return syncTarget(edited([statefulSet, replicaSet]), (object) => {
			const found = attempt(() => project(object), [TypeError], /^cannot read/);
			if (!found) return;
			demand([found.uid, found.name, found.namespace].every(isText), "It took a workload that cannot be named");
			demand(isResourceVersion(found.resourceVersion), "It took a version that cannot be ordered");
			for (const value of Object.values(found.labels))
				demand(typeof value === "string", "It took a label that is no text");
			if (found.isOfDeployment) return;
			// Without these labels, its pods would not be expected.
			const template = record(record(record(object)["spec"])["template"]);
			for (const key of Object.keys(record(record(template["metadata"])["labels"])))
				demand(key === "__proto__" || Object.hasOwn(found.labels, key), "It lost a label");
		});
	},
};

export const apiObjectTargets: readonly FuzzTarget[] = [
	podTarget,
	objectTarget,
	scaleTarget,
	workloadTarget,
	refusalTarget,
];
