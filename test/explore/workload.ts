// One workload of a simulated cluster: the pods of a StatefulSet, ReplicaSet, Deployment, custom resource or Job, or pods without a
// controller.
//
// Each pod fills a slot. A slot knows whether its pod is truly up, and why it is down. It stays down until a pod that fills it is ready
// again.
import type { PodReference } from "../../disruption/budget/cluster.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import type { Step } from "./scheduler.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";

export const namespace = "shop";
export const databaseGroup = "example.com";
const databaseVersion = "v1beta1";
/** API versions of kinds outside the group apps. */
const apiVersions: Readonly<Record<string, string>> = {
	Database: `${databaseGroup}/${databaseVersion}`,
	Job: "batch/v1",
};

export interface WorkloadSpec {
	/** "Database" has its own group. Its pods name a version of it that can stop being served. */
	readonly kind: "StatefulSet" | "ReplicaSet" | "Deployment" | "Database" | "Job" | "Bare";
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly replicas: number;
	/** Ready pods beyond the replicas, as a rollout makes them for a while. */
	readonly surge?: number;
	/** Ordinals whose pods are not ready at first. */
	readonly unready?: readonly number[];
	/** Those of the unready ordinals whose pods have not started: their phase is Pending. */
	readonly pending?: readonly number[];
	/** Labels of the pod template, if the pods get other labels, for example from a webhook. */
	readonly template?: Readonly<Record<string, string>>;
	/** Nodes of the pods, in turn. A cordoned node gets no new pod. By default the pods are on no node. */
	readonly nodes?: readonly string[];
	/** If true, none of the pods exists at first. */
	readonly isEmpty?: boolean;
}

export interface Slot {
	readonly workload: Workload;
	readonly ordinal: number;
	/** Undefined while no pod object fills the slot. */
	pod: PodReference | undefined;
	down: Down | undefined;
}

export interface Down {
	readonly cause: "voluntary" | "involuntary";
	/** The API server's revision at which the pod went down. */
	readonly revision: number;
	/** The round that evicted the pod, and the uid of that pod. */
	readonly by?: { readonly round: object; readonly uid: string };
}

export class Workload {
	readonly spec: WorkloadSpec;
	readonly controller: ControllerReference | undefined;
	readonly slots: Slot[] = [];
	replicas: number;
	/** The controller was deleted, and its pods were left. */
	orphaned = false;
	/** Slots of pods without a controller that rounds have emptied. */
	readonly emptied = new Set<Slot>();
	readonly #server: SimulatedApiServer;
	readonly #cordoned: ReadonlySet<string>;
	readonly #deployment: ControllerReference | undefined;
	/**
	 * Slots that a scale-down removed: their pods are deleted without regard to budgets, as if they had failed. Also slots of failed pods
	 * without a replacement.
	 */
	readonly retired: Slot[] = [];
	/** Finished pods that a ReplicaSet has replaced. They stay until they are deleted. */
	readonly finished: PodReference[] = [];
	/** The uids of pods that are Pending until they are ready. */
	readonly startsLater = new Set<string>();
	#made = 0;
	/** The pods that podIn() has found, kept until any pod of the cluster changes, because every step reads them. */
	readonly #records = new Map<PodReference, PodRecord | "gone">();
	#recordsAt = -1;

	/** `cordoned`: nodes that take no new pods. */
	constructor(server: SimulatedApiServer, spec: WorkloadSpec, cordoned: ReadonlySet<string> = new Set()) {
		this.#server = server;
		this.#cordoned = cordoned;
		this.spec = spec;
		this.replicas = spec.replicas;
		if (spec.kind !== "Bare") {
			const reference = (kind: string, name: string): ControllerReference => ({
				apiVersion: apiVersions[kind] ?? "apps/v1",
				kind,
				name,
				uid: `${server.clusterId}-${kind}-${name}`,
			});
			if (spec.kind === "Deployment") this.#deployment = reference("Deployment", spec.name);
			if (spec.kind === "Database") {
				const versions = ["v1", databaseVersion];
				server.kinds.set(databaseGroup, { kind: spec.kind, plural: "databases", versions, hasScale: true });
			}
			if (spec.kind === "Job")
				server.kinds.set("batch", { kind: spec.kind, plural: "jobs", versions: ["v1"], hasScale: false });
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
			if (slot.pod && spec.pending?.includes(ordinal)) this.startsLater.add(slot.pod.uid);
			if (!ready) slot.down = { cause: "involuntary", revision: 0 };
		}
	}

	/** Whether a controller replaces a pod that is gone. */
	get isManaged(): boolean {
		return this.controller !== undefined && !this.orphaned;
	}

	/** Whether a controller says how many pods it wants. A Job has no scale. */
	get hasScale(): boolean {
		return this.isManaged && this.spec.kind !== "Job";
	}

	podIn({ pod }: Pick<Slot, "pod">): PodRecord | undefined {
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

	/** Scaling up adds slots, which are empty at first. Scaling down deletes the last pods. */
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
			// Revision 0, because every reader of the scale knows of the missing pod, whatever the views show.
			const down: Down = { cause: "involuntary", revision: 0 };
			this.slots.push({ workload: this, ordinal: this.slots.length, pod: undefined, down });
		}
	}

	/** Called when etcd came back from a backup: only pods that were up in the backup are up. */
	restored(): void {
		for (const slot of this.slots) {
			const pod = this.podIn(slot);
			if (pod?.ready && !pod.terminating && !pod.finished) slot.down = undefined;
			else slot.down ??= { cause: "involuntary", revision: 0 };
		}
	}

	/**
	 * Ends the pod's containers. With `ready`, marks the pod as failed instead while it still reports Ready, as the pod garbage collector
	 * does.
	 */
	finish(slot: Slot, { ready }: { readonly ready: boolean }): void {
		const pod = this.podIn(slot);
		if (!pod) return;
		this.#server.changePod(pod, { finished: true, ready });
		slot.down ??= { cause: "involuntary", revision: this.#server.revision };
	}

	orphan(): void {
		this.orphaned = true;
		if (this.controller) this.#server.deleteController(this.controller, namespace);
	}

	/**
	 * Takes the ReplicaSet away from its Deployment, as a person who edits it does. The ReplicaSet continues alone, and the Deployment
	 * wants `wanted` replicas.
	 */
	disown(wanted: number): void {
		const { controller, replicas } = this;
		const deployment = this.#deployment;
		if (!controller || !deployment) throw new Error(`${this.spec.name} is no Deployment`);
		const { template = this.spec.labels } = this.spec;
		this.#server.putController({ ...deployment, namespace, replicas: wanted, template });
		this.#server.putController({ ...controller, namespace, replicas, template });
	}

	deleteDeployment(): void {
		if (this.#deployment) this.#server.deleteController(this.#deployment, namespace);
	}

	/** Adds what kubelets and controllers can do next, or only the ends of pods. */
	addSteps(steps: Step[], { onlyEnds }: { readonly onlyEnds: boolean }): void {
		const { clusterId } = this.#server;
		const step = (what: string, run: () => void): void =>
			void steps.push({ kind: "kubelet", actor: clusterId, what, run });
		for (const slot of this.slots) {
			const pod = this.podIn(slot);
			if (!pod) {
				if (this.isManaged && !onlyEnds && this.#nodeFor(slot) !== undefined)
					step(`makes pod ${this.spec.name}-${slot.ordinal} anew`, () => this.#makePod(slot, false));
			} else if (pod.terminating) {
				step(`pod ${pod.name} ends`, () => {
					this.#server.removePod(pod);
					slot.pod = undefined;
					const isDone = pod.finished && this.spec.kind === "Job";
					if (isDone || !this.isManaged || this.slots.length > this.replicas) this.#remove(slot);
				});
			} else if (pod.finished) {
				if (!onlyEnds && this.hasScale) this.#addReplacement(slot, pod, step);
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
		for (const reference of this.finished) {
			const pod = this.podIn({ pod: reference });
			if (pod?.terminating) step(`pod ${pod.name} ends`, () => this.#server.removePod(pod));
		}
	}

	/**
	 * Removes the slot for good. A view that has not seen the pod fail cannot know that the pod is gone, so `retired` keeps such a slot.
	 */
	#remove(slot: Slot): void {
		this.slots.splice(this.slots.indexOf(slot), 1);
		if (slot.down?.cause === "involuntary") this.retired.push(slot);
	}

	/** Adds the replacement of a finished pod. A ReplicaSet makes another pod next to it. Other controllers delete it first. */
	#addReplacement(slot: Slot, pod: PodRecord, step: (what: string, run: () => void) => void): void {
		if (!this.#namesAnew) {
			step(`finished pod ${pod.name} is deleted`, () => {
				this.#server.removePod(pod);
				slot.pod = undefined;
			});
			return;
		}
		step(`replaces finished pod ${pod.name}`, () => {
			this.finished.push(pod);
			this.#makePod(slot, false);
		});
	}

	/** As in Kubernetes, pods of a StatefulSet keep their names, and those of a Deployment or a Job do not. */
	get #namesAnew(): boolean {
		return ["Deployment", "ReplicaSet", "Job"].includes(this.spec.kind);
	}

	#makePod(slot: Slot, ready: boolean): void {
		this.#made += 1;
		const generation = this.isManaged && this.#namesAnew ? `-${this.#made}` : "";
		slot.pod = this.#server.createPod({
			name: `${this.spec.name}-${slot.ordinal}${generation}`,
			namespace,
			labels: this.spec.labels,
			ready,
			node: this.#nodeFor(slot) ?? "",
			...(this.controller && { controller: this.controller }),
		});
	}

	/** Returns the node for a new pod. Undefined while all nodes of the workload are cordoned: the pod would be pending. */
	#nodeFor({ ordinal }: Slot): string | undefined {
		const { nodes = [""] } = this.spec;
		const inTurn = nodes.map((_, index) => nodes[(ordinal + index) % nodes.length] ?? "");
		return inTurn.find((node) => !this.#cordoned.has(node));
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
