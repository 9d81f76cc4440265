// Workloads of Kubernetes' own kinds as lists and watches show them. The simulated API server answers their scales itself.
import type { WorkloadRecord } from "../../agent/cluster-api/workload-record.ts";
import type { WatchEvent } from "../../agent/kubernetes/watch-sink.ts";
import type { ControllerReference } from "../../disruption/budget/pod.ts";

type Labels = Readonly<Record<string, string>>;

interface MadeController extends ControllerReference {
	readonly namespace: string;
	readonly ownedBy?: ControllerReference;
	readonly template?: Labels;
}

const versions: readonly string[] = ["v1", "apps/v1"];
const kinds: readonly string[] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"];

export class SimulatedWorkloads {
	forbidsLists = false;
	readonly events: WatchEvent<WorkloadRecord>[] = [];
	readonly #objects = new Map<string, WorkloadRecord>();
	/** For workloads that were made without a template: the labels of the first pod that names them. */
	readonly #templates = new Map<string, Labels>();

	put(key: string, controller: MadeController, resourceVersion: string): void {
		const { apiVersion, kind, name, uid, namespace, ownedBy, template = this.#templates.get(key) } = controller;
		if (!versions.includes(apiVersion) || !kinds.includes(kind)) return;
		const isOfDeployment = ownedBy?.kind === "Deployment";
		const labels = isOfDeployment ? {} : (template ?? {});
		const object = { apiVersion, kind, name, uid, namespace, resourceVersion, labels, isOfDeployment };
		this.events.push({ type: this.#objects.has(key) ? "MODIFIED" : "ADDED", object, resourceVersion });
		this.#objects.set(key, object);
	}

	delete(key: string, resourceVersion: string): void {
		const object = this.#objects.get(key);
		if (!this.#objects.delete(key) || !object) return;
		this.events.push({ type: "DELETED", object: { ...object, resourceVersion }, resourceVersion });
	}

	madePod(key: string, controller: MadeController, labels: Labels): void {
		const known = this.#objects.get(key);
		if (!known || controller.template || this.#templates.has(key)) return;
		this.#templates.set(key, labels);
		this.#objects.set(key, { ...known, labels });
	}

	list(namespace: string): readonly WorkloadRecord[] {
		return [...this.#objects.values()].filter((each) => each.namespace === namespace);
	}

	contents(): readonly (readonly [string, WorkloadRecord])[] {
		return [...this.#objects];
	}

	restore(contents: readonly (readonly [string, WorkloadRecord])[]): void {
		this.#objects.clear();
		for (const [key, object] of contents) this.#objects.set(key, object);
	}
}
