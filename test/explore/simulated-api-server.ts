// A small but faithful API server: what Kubernetes promises of Leases, pods, evictions, budgets and scales, and nothing more.
//
// One revision grows over all kinds, as in etcd. Every write makes a new version, except an update of a Lease, a patch of a pod or an
// eviction that changes nothing. Stale writes and stale preconditions are conflicts. Pods, Leases, budgets and workloads leave their events
// in logs, from which views are fed as late as the schedule wants. Nothing here is asynchronous: simulated-api.ts carries the calls.
import {
	ConflictError,
	type ControllerName,
	type PodRead,
	type TouchAnswer,
} from "../../agent/cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../../agent/cluster-api/scale-answer.ts";
import type { WatchEvent } from "../../agent/kubernetes/watch-sink.ts";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget, PodReference } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { EvictionAnswer } from "../../disruption/round/ticket.ts";
import type { DeclaredFleet, FleetMember } from "../../disruption/budget/fleet.ts";
import { maxAnnotationBytes, namespaceLabel } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import { projectedPods } from "./projected-pod.ts";
import { SimulatedWorkloads } from "./simulated-workloads.ts";

export interface Preconditions {
	readonly uid?: string;
	readonly resourceVersion?: string;
}

/** A group with one kind, as a CustomResourceDefinition serves it. */
export interface ServedKind {
	readonly kind: string;
	readonly plural: string;
	/** For example "v1" or "v1beta1". */
	readonly versions: readonly string[];
	readonly hasScale: boolean;
}

export interface SimulatedController extends ControllerReference {
	readonly namespace: string;
	/** "withoutScale" for a Job, "unsettled" for a DaemonSet that has just been changed. */
	readonly replicas: number | "withoutScale" | "unsettled";
	readonly ownedBy?: ControllerReference;
	/** Labels of the pod template. By default those of the first pod that names this controller. */
	readonly template?: Readonly<Record<string, string>>;
}

export type NewPod = Pick<PodRecord, "name" | "namespace"> &
	Partial<Omit<PodRecord, "uid" | "resourceVersion" | "name" | "namespace">>;

interface StoredPod {
	readonly record: PodRecord;
	/** Message of the pod's condition xpdb.form3.tech/ReservationCancelled; "" if it was never set. */
	readonly touched: string;
	readonly pendingDisruption: boolean;
}

/** Everything that a restore brings back. The fleet and the served kinds stay as they are. */
export type Snapshot = Pick<SimulatedApiServer, "revision"> & {
	readonly leases: ReadonlyMap<string, LeaseObject>;
	readonly pods: ReadonlyMap<string, StoredPod>;
	readonly budgets: ReadonlyMap<string, MemberBudget>;
	readonly controllers: ReadonlyMap<string, SimulatedController>;
	readonly workloads: ReturnType<SimulatedWorkloads["contents"]>;
};

const agentNamespace = "xpdb-system";

export class SimulatedApiServer {
	readonly clusterId: string;
	revision: number;
	fleet: DeclaredFleet;
	readonly leases = new Map<string, LeaseObject>();
	/** By "namespace/name". */
	readonly #pods = new Map<string, StoredPod>();
	readonly budgets = new Map<string, MemberBudget>();
	readonly #controllers = new Map<string, SimulatedController>();
	/** By group: the served kinds outside of the group apps. */
	readonly kinds = new Map<string, ServedKind>();
	readonly seenPod = projectedPods();
	readonly podEvents: WatchEvent<PodRecord>[] = [];
	readonly leaseEvents: WatchEvent<LeaseObject>[] = [];
	readonly budgetEvents: WatchEvent<MemberBudget>[] = [];
	readonly workloads = new SimulatedWorkloads();
	/** Picks one of `count` versions for a list; 0 is the newest. A watch cache may answer from any version that is new enough. */
	pickListVersion: (count: number) => number = () => 0;
	podsMade = 0;
	/** Counts the changes of pods, including restores. While the number is the same, the pods are the same. */
	podChanges = 0;
	#uids = 0;

	/** A `firstRevision` near a power of ten gives versions of different lengths. */
	constructor(options: {
		readonly clusterId: string;
		readonly firstRevision?: number;
		readonly fleet?: readonly FleetMember[];
	}) {
		this.clusterId = options.clusterId;
		this.revision = options.firstRevision ?? 95;
		const { clusterId } = options;
		const members = options.fleet ?? [{ id: clusterId, name: clusterId, address: `${clusterId}:9443` }];
		this.fleet = { members, forgotten: [] };
	}

	createLease(lease: Omit<LeaseObject, "uid" | "resourceVersion">): LeaseObject {
		if (this.leases.has(lease.name)) throw new ConflictError(`Lease "${lease.name}" already exists`);
		this.#checkAnnotations(lease);
		const created = { ...lease, uid: this.#newUid("lease"), resourceVersion: this.#next() };
		return this.#putLease("ADDED", created);
	}

	/** Replaces a Lease, as a PUT does. Without a resourceVersion this is unconditional, as in Kubernetes. */
	updateLease(lease: LeaseObject): LeaseObject {
		const found = this.leases.get(lease.name);
		if (!found) throw new ConflictError(`Lease "${lease.name}" is gone`);
		if ((lease.uid || found.uid) !== found.uid) throw new ConflictError(`Lease "${lease.name}" has another uid`);
		if ((lease.resourceVersion || found.resourceVersion) !== found.resourceVersion) {
			throw new ConflictError(`Lease "${lease.name}" has been modified`);
		}
		this.#checkAnnotations(lease);
		const { uid, resourceVersion } = found;
		if (same({ ...lease, uid, resourceVersion }, found)) return found;
		return this.#putLease("MODIFIED", { ...lease, uid, resourceVersion: this.#next() });
	}

	deleteLease(name: string, preconditions: Preconditions): void {
		const found = this.leases.get(name);
		if (!found || !meets(found, preconditions)) throw new ConflictError(`Lease "${name}" has been modified or is gone`);
		this.leases.delete(name);
		this.leaseEvents.push({ type: "DELETED", object: found, resourceVersion: this.#next() });
	}

	/** Returns the Leases of the namespace as they were at a version between `notOlderThan` and now. */
	listLeases({ budgetNamespace, notOlderThan }: { readonly budgetNamespace: string; readonly notOlderThan: string }) {
		const last = this.leaseEvents.findLastIndex(
			(event) => compareResourceVersions(event.resourceVersion, notOlderThan) <= 0,
		);
		// "" asks for a consistent list.
		const unseen = notOlderThan === "" ? 0 : this.pickListVersion(this.leaseEvents.length - last);
		const leases = unseen === 0 ? this.leases : this.#leasesBefore(this.leaseEvents.length - unseen);
		return [...leases.values()].filter(({ labels }) => labels[namespaceLabel] === budgetNamespace);
	}

	#leasesBefore(events: number): ReadonlyMap<string, LeaseObject> {
		const leases = new Map<string, LeaseObject>();
		for (const { type, object } of this.leaseEvents.slice(0, events)) {
			if (type === "DELETED") leases.delete(object.name);
			else leases.set(object.name, object);
		}
		return leases;
	}

	putBudget(budget: MemberBudget): void {
		const key = keyOf(budget.name);
		const type = this.budgets.has(key) ? "MODIFIED" : "ADDED";
		this.budgets.set(key, budget);
		this.budgetEvents.push({ type, object: budget, resourceVersion: this.#next() });
	}

	deleteBudget(name: BudgetName): void {
		const found = this.budgets.get(keyOf(name));
		if (!found) return;
		this.budgets.delete(keyOf(name));
		this.budgetEvents.push({ type: "DELETED", object: found, resourceVersion: this.#next() });
	}

	listBudgets(namespace?: string): readonly MemberBudget[] {
		return [...this.budgets.values()].filter(({ name }) => namespace === undefined || name.namespace === namespace);
	}

	/** Makes or changes the controller of this kind and name. A new uid makes it a new controller. */
	putController(controller: SimulatedController): void {
		const key = controllerKey(controller, controller.namespace);
		this.#controllers.set(key, controller);
		this.workloads.put(key, controller, this.#next());
	}

	deleteController(controller: ControllerReference, namespace: string): void {
		const key = controllerKey(controller, namespace);
		if (this.#controllers.delete(key)) this.workloads.delete(key, this.#next());
	}

	controllers(): Iterable<SimulatedController> {
		return this.#controllers.values();
	}

	/** Returns the controller that has this name now. Of the apiVersion, only the group counts. */
	controller(controller: ControllerName, namespace: string): SimulatedController | undefined {
		return this.#controllers.get(controllerKey(controller, namespace));
	}

	getScale(controller: ControllerName, namespace: string): ScaleAnswer {
		const found = this.controller(controller, namespace);
		if (!found) return { kind: "gone" };
		const { uid, replicas, ownedBy } = found;
		if (replicas === "withoutScale") return { kind: "withoutScale" };
		if (replicas === "unsettled") return { kind: "unsettled", uid };
		return { kind: "replicas", replicas, uid, ...(ownedBy && { ownedBy }) };
	}

	createPod(pod: NewPod): PodRecord {
		this.podsMade += 1;
		if (this.#pods.has(keyOf(pod))) throw new ConflictError(`Pod "${keyOf(pod)}" already exists`);
		this.#madePod(pod);
		const record: PodRecord = {
			labels: {},
			node: "",
			ready: true,
			terminating: false,
			finished: false,
			preActivities: [],
			...pod,
			uid: this.#newUid(pod.name),
			resourceVersion: this.#next(),
		};
		return this.#putPod("ADDED", { record, touched: "", pendingDisruption: false });
	}

	#madePod({ labels = {}, namespace, controller }: NewPod): void {
		const direct = controller && this.controller(controller, namespace);
		const decides = direct?.ownedBy ? this.controller(direct.ownedBy, namespace) : direct;
		if (decides) this.workloads.madePod(controllerKey(decides, namespace), decides, labels);
	}

	/** Changes a pod as a kubelet, a person or a controller does. Always makes a new version. */
	changePod(
		pod: PodReference,
		change: Partial<Omit<PodRecord, "uid" | "name" | "namespace" | "resourceVersion">>,
	): PodRecord {
		const found = this.#find(pod);
		if (!found) throw new Error(`Pod "${keyOf(pod)}" of uid "${pod.uid}" is gone`);
		return this.#putPod("MODIFIED", {
			...found,
			record: { ...found.record, ...change, resourceVersion: this.#next() },
		});
	}

	/** Removes the object, as after the grace period or by a forced delete. */
	removePod(pod: PodReference): void {
		const found = this.#find(pod);
		if (!found) return;
		this.#pods.delete(keyOf(pod));
		this.podChanges += 1;
		// As in a watch: the last state, with the version of the deletion.
		const resourceVersion = this.#next();
		this.podEvents.push({ type: "DELETED", object: { ...found.record, resourceVersion }, resourceVersion });
	}

	getPod(pod: Pick<PodReference, "namespace" | "name">): PodRead {
		const found = this.#pods.get(keyOf(pod));
		return found ? { kind: "present", pod: found.record } : { kind: "gone" };
	}

	/** Returns the pods of workloads, without those that agents run in. */
	pods(): readonly PodRecord[] {
		return this.listPods().pods.filter(({ namespace }) => namespace !== agentNamespace);
	}

	listPods(): { readonly pods: readonly PodRecord[]; readonly resourceVersion: string } {
		const pods = Array.from(this.#pods.values(), ({ record }) => record);
		return { pods, resourceVersion: String(this.revision) };
	}

	/** Creates the pod that an agent runs in. */
	createAgentPod(name: string): PodRecord {
		return this.createPod({ name, namespace: agentNamespace });
	}

	touchPod(pod: PodReference, value: string): TouchAnswer {
		const found = this.#find(pod);
		if (!found) return { kind: "gone" };
		if (found.touched === value) return { kind: "touched", resourceVersion: found.record.resourceVersion };
		const record = { ...found.record, resourceVersion: this.#next() };
		this.#putPod("MODIFIED", { ...found, record, touched: value });
		return { kind: "touched", resourceVersion: record.resourceVersion };
	}

	markPendingDisruption(pod: PodReference): void {
		const found = this.#find(pod);
		if (!found || found.pendingDisruption) return;
		const record = { ...found.record, resourceVersion: this.#next() };
		this.#putPod("MODIFIED", { ...found, record, pendingDisruption: true });
	}

	hasPendingDisruption(pod: PodReference): boolean {
		return this.#find(pod)?.pendingDisruption ?? false;
	}

	/** Evicts a pod by name, as POST pods/eviction does. Without preconditions it hits the pod that has that name now. */
	evict(pod: Pick<PodReference, "namespace" | "name">, preconditions: Preconditions): EvictionAnswer<never> {
		const found = this.#pods.get(keyOf(pod));
		if (!found) return { kind: "gone" };
		if (!meets(found.record, preconditions)) return { kind: "conflict" };
		if (!found.record.terminating) this.changePod(found.record, { terminating: true });
		return { kind: "accepted" };
	}

	snapshot(): Snapshot {
		return {
			revision: this.revision,
			leases: new Map(this.leases),
			pods: new Map(this.#pods),
			budgets: new Map(this.budgets),
			controllers: new Map(this.#controllers),
			workloads: this.workloads.contents(),
		};
	}

	/**
	 * Restores etcd from a backup. Its versions continue from the backup's, or from a higher `revision`. Open watches do not notice, so a
	 * caller that also restarts the API server must break them.
	 */
	restore(snapshot: Snapshot, revision = snapshot.revision): void {
		const refill = <T>(map: Map<string, T>, from: ReadonlyMap<string, T>): void => {
			map.clear();
			for (const [key, value] of from) map.set(key, value);
		};
		this.revision = revision;
		this.podChanges += 1;
		refill(this.leases, snapshot.leases);
		refill(this.#pods, snapshot.pods);
		refill(this.budgets, snapshot.budgets);
		refill(this.#controllers, snapshot.controllers);
		this.workloads.restore(snapshot.workloads);
		for (const log of [this.podEvents, this.leaseEvents, this.budgetEvents, this.workloads.events]) {
			const kept = log.findIndex((event) => Number(event.resourceVersion) > snapshot.revision);
			if (kept >= 0) log.splice(kept);
		}
	}

	/** Returns a text that is equal for equal contents. */
	contents(): string {
		const { revision, leases, budgets, fleet, kinds } = this;
		const objects = [leases, this.#pods, budgets, this.#controllers, kinds].map((map) => [...map]);
		return JSON.stringify([revision, objects, fleet, this.workloads.contents()]);
	}

	#find(pod: PodReference): StoredPod | undefined {
		const found = this.#pods.get(keyOf(pod));
		return found?.record.uid === pod.uid ? found : undefined;
	}

	#putPod(type: "ADDED" | "MODIFIED", pod: StoredPod): PodRecord {
		const { record } = pod;
		this.#pods.set(keyOf(record), pod);
		this.podChanges += 1;
		this.podEvents.push({ type, object: record, resourceVersion: record.resourceVersion });
		return record;
	}

	#putLease(type: "ADDED" | "MODIFIED", lease: LeaseObject): LeaseObject {
		this.leases.set(lease.name, lease);
		this.leaseEvents.push({ type, object: lease, resourceVersion: lease.resourceVersion });
		return lease;
	}

	#checkAnnotations({ name, annotations }: Pick<LeaseObject, "name" | "annotations">): void {
		const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0);
		if (bytes <= maxAnnotationBytes) return;
		throw new AgentUnavailableError(`Lease "${name}" is invalid: annotations are too long`, this.clusterId);
	}

	#next(): string {
		this.revision += 1;
		return String(this.revision);
	}

	#newUid(of: string): string {
		this.#uids += 1;
		return `${this.clusterId}-${of}-${this.#uids}`;
	}
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
	return `${namespace}/${name}`;
}

function controllerKey({ apiVersion, kind, name }: ControllerName, namespace: string): string {
	return `${apiVersion.split("/").slice(0, -1).join()} ${kind} ${namespace}/${name}`;
}

function meets(
	object: { readonly uid: string; readonly resourceVersion: string },
	{ uid, resourceVersion }: Preconditions,
): boolean {
	return (uid ?? object.uid) === object.uid && (resourceVersion ?? object.resourceVersion) === object.resourceVersion;
}

/** Whether two objects have the same contents, in any order of their fields. */
function same(a: unknown, b: unknown): boolean {
	if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
	const keys = Object.keys(a);
	if (keys.length !== Object.keys(b).length) return false;
	const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
	return keys.every((key) => same(left[key], right[key]));
}
