// The pods of one simulated cluster and who makes them: StatefulSets, ReplicaSets, Deployments, and pods of nobody.
//
// Each pod fills a slot. A slot knows the truth about its pod: up, or down and by whose doing, until a pod that fills
// it is ready again.
import type { PodReference } from "../../disruption/cluster.ts";
import type { ControllerReference, PodRecord } from "../../disruption/pod.ts";
import type { Step } from "./scheduler.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";

export const namespace = "shop";
export const databaseGroup = "example.com";
const databaseVersion = "v1beta1";

export interface WorkloadSpec {
	/** "Database": of a group of its own, in a version of which pods go on to speak. */
	readonly kind: "StatefulSet" | "ReplicaSet" | "Deployment" | "Database" | "Bare";
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly replicas: number;
	/** Ready pods beyond its replicas, as a rollout makes them for a while. */
	readonly surge?: number;
	/** Ordinals whose pods are not ready at first. */
	readonly unready?: readonly number[];
	/** Of its pod template, where its pods get other ones: a webhook adds some. */
	readonly template?: Readonly<Record<string, string>>;
	/** None of its pods is there at first. */
	readonly isEmpty?: boolean;
}

export interface Slot {
	readonly workload: Workload;
	readonly ordinal: number;
	/** Undefined while no pod object fills it. */
	pod: PodReference | undefined;
	down: Down | undefined;
}

/** Why a slot has no healthy pod. */
export interface Down {
	readonly cause: "voluntary" | "involuntary";
	/** The API server's revision at which it went down. */
	readonly revision: number;
	/** The round that evicted it, and the pod that it was then. */
	readonly by?: { readonly round: object; readonly uid: string };
}

export class Workload {
	readonly spec: WorkloadSpec;
	readonly controller: ControllerReference | undefined;
	readonly slots: Slot[] = [];
	replicas: number;
	/** Its controller was deleted, and its pods were left. */
	orphaned = false;
	/** Slots of pods that nobody controls, which rounds have emptied. */
	readonly emptied = new Set<Slot>();
	readonly #server: SimulatedApiServer;
	readonly #deployment: ControllerReference | undefined;
	/** Slots that a scale took away; their pods are deleted past the budgets, as if they had failed. */
	readonly retired: Slot[] = [];
	#made = 0;
	/** What the pods of slots are since the last change of any: asked for at every step. */
	readonly #records = new Map<PodReference, PodRecord | "gone">();
	#recordsAt = -1;

	constructor(server: SimulatedApiServer, spec: WorkloadSpec) {
		this.#server = server;
		this.spec = spec;
		this.replicas = spec.replicas;
		if (spec.kind !== "Bare") {
			const reference = (kind: string, name: string): ControllerReference => ({
				apiVersion: kind === "Database" ? `${databaseGroup}/${databaseVersion}` : "apps/v1",
				kind,
				name,
				uid: `${server.clusterId}-${kind}-${name}`,
			});
			if (spec.kind === "Deployment") this.#deployment = reference("Deployment", spec.name);
			if (spec.kind === "Database") {
				const versions = ["v1", databaseVersion];
				server.kinds.set(databaseGroup, { kind: spec.kind, plural: "databases", versions, hasScale: true });
			}
			this.controller = reference(spec.kind === "Deployment" ? "ReplicaSet" : spec.kind, spec.name);
		}
		this.#writeScale();
		for (let ordinal = 0; ordinal < spec.replicas + (spec.surge ?? 0); ordinal += 1) {
			const slot: Slot = { workload: this, ordinal, pod: undefined, down: undefined };
			this.slots.push(slot);
			if (spec.isEmpty) {
				slot.down = { cause: "involuntary", revision: 0 };
				continue;
			}
			const ready = !(spec.unready ?? []).includes(ordinal);
			this.#makePod(slot, ready);
			if (!ready) slot.down = { cause: "involuntary", revision: 0 };
		}
	}

	/** Whether a controller would replace a pod that is gone. */
	get isManaged(): boolean {
		return this.controller !== undefined && !this.orphaned;
	}

	/** The pod in a slot as it is now. */
	podIn({ pod }: Slot): PodRecord | undefined {
		if (!pod) return undefined;
		if (this.#recordsAt !== this.#server.podChanges) {
			this.#records.clear();
			this.#recordsAt = this.#server.podChanges;
		}
		let record = this.#records.get(pod);
		if (record === undefined) {
			const found = this.#server.getPod(pod);
			record = found.kind === "present" && found.pod.uid === pod.uid ? found.pod : "gone";
			this.#records.set(pod, record);
		}
		return record === "gone" ? undefined : record;
	}

	/** Up: more slots, which are empty at first. Down: the controller deletes the last pods. */
	scale(replicas: number): void {
		this.replicas = replicas;
		this.#writeScale();
		while (this.slots.length > replicas) {
			const slot = this.slots.pop();
			if (!slot) break;
			const pod = this.podIn(slot);
			if (pod) this.#server.changePod(pod, { terminating: true });
			slot.down ??= { cause: "involuntary", revision: this.#server.revision };
			this.retired.push(slot);
		}
		while (this.slots.length < replicas) {
			// Everybody who reads the scale knows of it, whatever the views show.
			const down: Down = { cause: "involuntary", revision: 0 };
			this.slots.push({ workload: this, ordinal: this.slots.length, pod: undefined, down });
		}
	}

	/** Etcd came back from a backup: pods are up that were up then, and no others. */
	restored(): void {
		for (const slot of this.slots) {
			const pod = this.podIn(slot);
			if (pod?.ready && !pod.terminating) slot.down = undefined;
			else slot.down ??= { cause: "involuntary", revision: 0 };
		}
	}

	orphan(): void {
		this.orphaned = true;
		if (this.controller) this.#server.deleteController(this.controller, namespace);
	}

	/** The ReplicaSet is its Deployment's no more, and goes on by itself: somebody edited it. The Deployment wants so many. */
	disown(wanted: number): void {
		const { controller, replicas } = this;
		const deployment = this.#deployment;
		if (!controller || !deployment) throw new Error(`${this.spec.name} is no Deployment`);
		const { template = this.spec.labels } = this.spec;
		this.#server.putController({ ...deployment, namespace, replicas: wanted, template });
		this.#server.putController({ ...controller, namespace, replicas, template });
	}

	/** Its former Deployment is deleted. */
	deleteDeployment(): void {
		if (this.#deployment) this.#server.deleteController(this.#deployment, namespace);
	}

	/** What kubelets and controllers would do next, or only which pods would end. */
	addSteps(steps: Step[], { onlyEnds }: { readonly onlyEnds: boolean }): void {
		const { clusterId } = this.#server;
		const step = (what: string, run: () => void): void =>
			void steps.push({ kind: "kubelet", actor: clusterId, what, run });
		for (const slot of this.slots) {
			const pod = this.podIn(slot);
			if (!pod) {
				if (this.isManaged && !onlyEnds)
					step(`makes pod ${this.spec.name}-${slot.ordinal} anew`, () => this.#makePod(slot, false));
			} else if (pod.terminating) {
				step(`pod ${pod.name} ends`, () => {
					this.#server.removePod(pod);
					slot.pod = undefined;
					if (!this.isManaged || this.slots.length > this.replicas) this.slots.splice(this.slots.indexOf(slot), 1);
				});
			} else if (!pod.ready && !onlyEnds) {
				step(`pod ${pod.name} becomes ready`, () => {
					this.#server.changePod(pod, { ready: true });
					slot.down = undefined;
				});
			}
		}
		for (const slot of this.retired) {
			const pod = this.podIn(slot);
			if (pod) step(`pod ${pod.name} ends`, () => this.#server.removePod(pod));
		}
	}

	#makePod(slot: Slot, ready: boolean): void {
		this.#made += 1;
		// As in Kubernetes: a StatefulSet's pods keep their names, a Deployment's get new ones.
		const isNamedAnew = this.spec.kind === "Deployment" || this.spec.kind === "ReplicaSet";
		const generation = this.isManaged && isNamedAnew ? `-${this.#made}` : "";
		slot.pod = this.#server.createPod({
			name: `${this.spec.name}-${slot.ordinal}${generation}`,
			namespace,
			labels: this.spec.labels,
			ready,
			...(this.controller && { controller: this.controller }),
		});
	}

	#writeScale(): void {
		const { controller, replicas } = this;
		if (!controller) return;
		const deployment = this.#deployment;
		const { template = this.spec.labels } = this.spec;
		if (deployment) this.#server.putController({ ...deployment, namespace, replicas, template });
		this.#server.putController({
			...controller,
			namespace,
			replicas,
			template,
			...(deployment && { ownedBy: deployment }),
		});
	}
}
