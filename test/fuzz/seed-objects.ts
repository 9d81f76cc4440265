// Valid objects as the API server sends them, from which inputs are made: budget shop/db over the three pods of StatefulSet db.
import { annotationsOf, leaseName, newState } from "../../disruption/lease/lease.ts";
import { newController, newLease, newReservation } from "../support/build-lease.ts";
import type { Json } from "./odd-values.ts";

export const clusterUid = "0f0d2f60-0000-4000-8000-000000000001";
export const budget = { namespace: "shop", name: "db" };
export const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "uid-of-db" };

export const budgetSpecs: readonly Json[] = [
	{ selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 },
	{ selector: { matchLabels: { app: "db", "example.com/tier": "" } }, minAvailable: "50%", suspend: false },
	{
		selector: {
			matchExpressions: [
				{ key: "zone", operator: "NotIn", values: ["b", "a"] },
				{ key: "example.com/old", operator: "DoesNotExist" },
				{ key: "owner", operator: "Exists" },
				{ key: "app", operator: "In", values: ["db", "web"] },
			],
		},
		minAvailable: 2,
		probe: { endpoint: "probe:1", enabled: false },
	},
	{ selector: {}, maxUnavailable: "30%", probe: { endpoint: "probe:1" } },
];

export function podObject(name: string, { ready = true, extra = {} }: { ready?: boolean; extra?: object } = {}) {
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: {
			name,
			namespace: "shop",
			uid: `uid-${name}`,
			resourceVersion: "100",
			labels: { app: "db" },
			annotations: { "example.com/note": "hello" },
			ownerReferences: [{ ...controller, controller: true, blockOwnerDeletion: true }],
			...extra,
		},
		spec: { nodeName: "n0", containers: [{ name: "db", image: "db:1" }] },
		status: {
			phase: "Running",
			conditions: [
				{ type: "PodScheduled", status: "True" },
				{ type: "Ready", status: ready ? "True" : "False" },
			],
		},
	};
}

export const podObjects: readonly Json[] = [
	podObject("db-0"),
	podObject("db-1", { ready: false }),
	podObject("db-2", {
		extra: {
			deletionTimestamp: "2026-11-21T05:00:00Z",
			deletionGracePeriodSeconds: 30,
			annotations: { "pre-activity.xpdb.form3.tech/backup": "" },
		},
	}),
	{ ...podObject("job-1"), status: { phase: "Succeeded" } },
	{ metadata: { name: "bare", namespace: "shop", uid: "uid-bare", resourceVersion: "7" }, spec: {}, status: {} },
] as readonly Json[];

export const statefulSet = {
	apiVersion: "apps/v1",
	kind: "StatefulSet",
	metadata: { name: "db", namespace: "shop", uid: "uid-of-db", resourceVersion: "90", generation: 1 },
	spec: {
		replicas: 3,
		serviceName: "db",
		selector: { matchLabels: { app: "db" } },
		template: { metadata: { labels: { app: "db" } } },
	},
	status: { replicas: 3, readyReplicas: 3 },
};

export const replicaSet = {
	apiVersion: "apps/v1",
	kind: "ReplicaSet",
	metadata: {
		name: "web-1",
		namespace: "shop",
		uid: "uid-of-web-1",
		resourceVersion: "91",
		ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "uid-of-web", controller: true }],
	},
	spec: { replicas: 2 },
};

export const scaleObject = {
	apiVersion: "autoscaling/v1",
	kind: "Scale",
	metadata: { name: "big", namespace: "shop", uid: "uid-of-big", resourceVersion: "92" },
	spec: { replicas: 4 },
	status: { replicas: 4 },
};

export const resourceList = {
	kind: "APIResourceList",
	groupVersion: "db.example.com/v1",
	resources: [
		{ name: "databases", kind: "Database", namespaced: true, verbs: ["get"] },
		{ name: "databases/scale", kind: "Scale", namespaced: true, verbs: ["get"] },
		{ name: "backups", kind: "Backup", namespaced: true, verbs: ["get"] },
	],
};

export const node = {
	apiVersion: "v1",
	kind: "Node",
	metadata: { name: "n0", uid: "uid-n0", resourceVersion: "5", labels: { zone: "a" } },
	spec: { unschedulable: true },
};

/** Returns a Lease of budget shop/db, by default free and without reservations. */
export function leaseObject(more: Parameters<typeof newLease>[0] = {}) {
	const lease = newLease({ ...more, budget });
	return {
		apiVersion: "coordination.k8s.io/v1",
		kind: "Lease",
		metadata: {
			name: leaseName(budget),
			namespace: "xpdb-system",
			uid: lease.uid,
			resourceVersion: lease.resourceVersion,
			labels: { "xpdb.form3.tech/budget-namespace": "shop" },
			annotations: annotationsOf(lease),
		},
		spec: {
			...(lease.holder !== "" && { holderIdentity: lease.holder }),
			leaseDurationSeconds: lease.durationMs / 1_000,
			leaseTransitions: lease.transitions,
			acquireTime: "2026-11-21T05:00:00.000000Z",
			renewTime: "2026-11-21T05:00:00.000000Z",
		},
	};
}

export const leaseObjects = [
	leaseObject(),
	leaseObject({
		holder: "drain-7f",
		durationMs: 10_000,
		transitions: 3,
		state: {
			...newState,
			nonce: "nonce-1",
			phase: "held",
			observed: "99",
			reservations: [newReservation("db-0"), newReservation("db-1", { holder: "drain-8a", cancelling: true })],
			controllers: [newController("db")],
		},
	}),
	leaseObject({
		transitions: 4,
		state: { nonce: "nonce-2", phase: "committed", observed: "100", reservations: [newReservation("db-2")] },
	}),
] as unknown as readonly Json[];

export const statusObjects: readonly Json[] = [
	{
		kind: "Status",
		apiVersion: "v1",
		status: "Failure",
		message: 'pods "db-0" not found',
		reason: "NotFound",
		details: { name: "db-0", kind: "pods" },
		code: 404,
	},
	{
		kind: "Status",
		apiVersion: "v1",
		status: "Failure",
		message: "Cannot evict pod as it would violate the pod's disruption budget.",
		reason: "TooManyRequests",
		details: { causes: [{ reason: "DisruptionBudget", message: "The disruption budget db needs 2 healthy pods" }] },
		code: 429,
	},
	{
		kind: "Status",
		apiVersion: "v1",
		status: "Failure",
		message: "pods is forbidden: unable to create new content in namespace shop because it is being terminated",
		reason: "Forbidden",
		details: { name: "db-0", kind: "pods", causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
		code: 403,
	},
];
