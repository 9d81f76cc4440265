// Sample values of the calls to agents. Most optional fields are set in one of them.
import type {
	AcquireRequest,
	Acquisition,
	CandidateState,
	Count,
	Grant,
	PodReference,
} from "../../disruption/budget/cluster.ts";
import { parseLabelSelector } from "../../disruption/budget/selector.ts";
import type { ListedLease } from "../../proto/listed-lease.ts";

export const clusterId = "0f0d2f60-0000-4000-8000-000000000001";

export const budget = { namespace: "shop", name: "db" };

export const selector = parseLabelSelector(
	{
		matchLabels: { app: "db", tier: "" },
		matchExpressions: [
			{ key: "zone", operator: "NotIn", values: ["b", "a"] },
			{ key: "example.com/old", operator: "DoesNotExist" },
			{ key: "owner", operator: "Exists" },
		],
	},
	"selector",
);

export function pod(name: string): PodReference {
	return { namespace: "shop", name, uid: `uid-of-${name}` };
}

export const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "uid-of-db" };

export const acquireRequest: AcquireRequest = {
	budget,
	selector,
	holder: "drain-7f",
	nonce: "nonce-1",
	candidates: [pod("db-0"), pod("db-1")],
};

export const acquisition: Acquisition = { budget, leaseUid: "lease-uid", leaseTransitions: 3, nonce: "nonce-1" };

export const unwrittenAcquisition: Acquisition = {
	...acquisition,
	unwritten: { holder: "drain-7f", lease: "fingerprint-1", selector, healthy: 4 },
};

export const candidates: readonly CandidateState[] = [
	{ kind: "gone", pod: pod("db-0") },
	{ kind: "free", pod: pod("db-1"), why: "Terminating" },
	{ kind: "free", pod: pod("db-2"), why: "Finished" },
	{ kind: "unseen", pod: pod("db-3") },
	{
		kind: "present",
		pod: pod("db-4"),
		healthy: true,
		resourceVersion: "123456789012345678901234567890",
		labels: { app: "db", tier: "" },
		controller,
		reservedBy: { holder: "drain-8a", sinceSeconds: 1_795_000_000 },
		preActivities: ["backup"],
	},
	{ kind: "present", pod: pod("db-5"), healthy: false, resourceVersion: "7", labels: {}, preActivities: [] },
	{
		kind: "present",
		pod: pod("db-6"),
		healthy: true,
		resourceVersion: "8",
		changesEveryMs: 200,
		labels: {},
		preActivities: [],
	},
];

export const count: Count = {
	clusterId,
	clusterName: "eu-1",
	fleetHash: "5f",
	features: ["Probe"],
	budgets: [
		{ name: budget, spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: "30%", näme: [1, null] } },
		{ name: { namespace: "shop", name: "broken" }, spec: null },
		{ name: { namespace: "shop", name: "off" }, spec: { suspend: true }, suspension: '{"version":1}' },
	],
	expected: { kind: "known", pods: 0 },
	healthy: 4,
	candidates,
	unavailable: [
		{ namespace: "shop", name: "db-0", why: "Reserved", holder: "drain-7f", account: "team-a", sinceSeconds: 12 },
		{ namespace: "shop", name: "db-9", why: "NotReady" },
		{
			namespace: "shop",
			name: "db-10",
			why: "NotReady",
			state: "Pending",
			message: "0/3 nodes are available",
			sinceSeconds: 7,
		},
	],
};

export const leases: readonly ListedLease[] = [
	{
		name: "xpdb-1",
		budget,
		uid: "lease-uid",
		transitions: 3,
		holding: { holder: "drain-7f", account: "team-a", heldForMs: 1_200, expiresInMs: 8_800 },
		waiting: 2,
		reservations: [
			{
				pod: "db-4",
				uid: "uid-of-db-4",
				holder: "drain-8a",
				account: "team-b",
				sinceSeconds: 1_795_000_000,
				untilSeconds: 1_795_000_030,
				cancelling: true,
			},
			{
				pod: "db-5",
				uid: "uid-of-db-5",
				holder: "",
				sinceSeconds: 1_795_000_001,
				untilSeconds: 1_795_000_031,
				cancelling: false,
			},
		],
		reserved: 7,
	},
	{
		name: "xpdb-2",
		budget: { namespace: "shop", name: "web" },
		uid: "uid-2",
		transitions: 0,
		holding: undefined,
		waiting: 0,
		reservations: [],
		reserved: 0,
	},
	{
		name: "xpdb-3",
		budget: undefined,
		problem: "it is not JSON",
		uid: "uid-3",
		transitions: 9,
		holding: undefined,
		waiting: undefined,
		reservations: [],
		reserved: 0,
	},
];

export const description = {
	clusterId,
	clusterName: "eu-1",
	version: "0.2.0",
	features: ["Probe"],
	members: [{ id: clusterId, name: "eu-1", address: "10.0.0.1:8444" }],
	fleetHash: "5f",
	leaseNamespace: "xpdb-system",
};

const certificateMark = (byte: string, expiresAtSeconds: number) => ({
	sha256: Array.from({ length: 32 }, () => byte).join(":"),
	expiresAtSeconds,
});

export const fullDescription = {
	...description,
	clockMs: 1_795_000_000_123,
	unresolved: [{ id: "id-9", name: "us-1" }],
	forgotten: [{ id: "id-7" }, { id: "id-8", name: "us-2" }],
	certificates: {
		certificate: certificateMark("0A", 1_800_000_000),
		authorities: [certificateMark("F1", 2_000_000_000), certificateMark("F2", 2_100_000_000)],
	},
	heard: [{ id: "id-2", agoMs: 1_234 }],
};

const budgetsOf = (id: string) => ({ clusterId: id, fleetHash: "5f", budgets: count.budgets });

export const introduction = {
	...fullDescription,
	budgets: budgetsOf(clusterId),
	others: [
		{ ...description, clusterId: "id-2" },
		{ ...fullDescription, clusterId: "id-3", budgets: budgetsOf("id-3") },
	],
};

export const acquired = { kind: "acquired", acquisition, count, leaseDurationMs: 10_000 } as const;

export const grants: readonly Grant[] = [
	{ id: "grant-1", pod: pod("db-4"), resourceVersion: "99", controller },
	{ id: "grant-2", pod: pod("db-5"), resourceVersion: "100" },
];
