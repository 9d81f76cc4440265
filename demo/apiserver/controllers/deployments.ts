// Runs Deployments: one ReplicaSet for each pod template. Old ReplicaSets are scaled to 0 once the current one is available.
import { createHash } from "node:crypto";
import { isRecord } from "../../../disruption/record.ts";
import { type ApiObject, controllerOf, type JsonObject, keyOf, numberAt, valueAt } from "../api-object.ts";
import { type ControllerHost, controllerName } from "./controller.ts";
import { ownerReference } from "./pod-template.ts";

const resource = "deployments.apps";
const sets = "replicasets.apps";
const hashLabel = "pod-template-hash";

export function runDeploymentController(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("deployment-controller"));

	host.reconcile({
		resources: [resource, sets],
		keysOf({ resource: changed, object }) {
			if (changed === resource) return [keyOf(object)];
			const owner = controllerOf(object);
			return owner?.kind === "Deployment" ? [`${object.metadata.namespace ?? ""}/${owner.name}`] : [];
		},
		look(key) {
			const deployment = store.find(resource, key);
			if (!deployment) return;
			const owned = store.list(sets).filter((set) => controllerOf(set)?.uid === deployment.metadata.uid);
			if (deployment.metadata.deletionTimestamp === undefined) rollOut(deployment, owned);
			client.setStatus(resource, deployment, statusOf(deployment, owned));
		},
	});

	function rollOut(deployment: ApiObject, owned: readonly ApiObject[]): void {
		const replicas = numberAt(deployment, "spec.replicas") ?? 1;
		const name = `${deployment.metadata.name}-${templateHash(deployment)}`;
		const current = owned.find((set) => set.metadata.name === name);
		if (!current) {
			client.create(sets, deployment.metadata.namespace ?? "", replicaSet(deployment, name, replicas));
			return;
		}
		resize(current, replicas);
		const isAvailable = (numberAt(current, "status.availableReplicas") ?? 0) >= replicas;
		if (isAvailable) for (const old of owned) if (old !== current) resize(old, 0);
	}

	function resize(set: ApiObject, replicas: number): void {
		if (numberAt(set, "spec.replicas") !== replicas) client.update(sets, { ...set, spec: { ...set.spec, replicas } });
	}
}

function statusOf(deployment: ApiObject, owned: readonly ApiObject[]): JsonObject {
	const sum = (of: readonly ApiObject[], field: string): number =>
		of.reduce((total, set) => total + (numberAt(set, `status.${field}`) ?? 0), 0);
	const hash = templateHash(deployment);
	const current = owned.filter((set) => set.metadata.labels?.[hashLabel] === hash);
	return {
		observedGeneration: deployment.metadata.generation ?? 0,
		replicas: sum(owned, "replicas"),
		updatedReplicas: sum(current, "replicas"),
		readyReplicas: sum(owned, "readyReplicas"),
		availableReplicas: sum(owned, "availableReplicas"),
	};
}

function replicaSet(deployment: ApiObject, name: string, replicas: number): JsonObject {
	const hash = { [hashLabel]: templateHash(deployment) };
	const labelled = (path: string): JsonObject => {
		const labels = valueAt(deployment, path);
		return { ...(isRecord(labels) ? labels : {}), ...hash };
	};
	const template = isRecord(deployment.spec?.["template"]) ? deployment.spec["template"] : {};
	const metadata = isRecord(template["metadata"]) ? template["metadata"] : {};
	const labels = labelled("spec.template.metadata.labels");
	return {
		metadata: { name, labels, ownerReferences: [ownerReference(deployment)] },
		spec: {
			replicas,
			selector: { matchLabels: labelled("spec.selector.matchLabels") },
			template: { ...template, metadata: { ...metadata, labels } },
		},
	};
}

function templateHash(deployment: ApiObject): string {
	return createHash("sha256").update(JSON.stringify(deployment.spec?.["template"])).digest("hex").slice(0, 10);
}
