// Lists the reasons in -o json. A minor version may add reasons, but never changes or removes one.
import { failureReasons, refusalReasons, waitReasons } from "../../disruption/budget/verdict.ts";

export const reasons = [
	// The pod waits, because no grant is possible for now.
	...waitReasons,
	// A grant is refused, usually until someone intervenes.
	...refusalReasons,
	// A user suspended the budget, so it blocks nothing.
	"BudgetSuspended",
	// Another run holds a Lease, or a request failed or was refused.
	...failureReasons,
	// The run itself.
	"CordonFailed",
	"PodsNotAllowed",
	"NoOtherNode",
	"ReturnsToNode",
	"NotRecovered",
	"TimedOut",
	"Interrupted",
	/** This run lost the node to another run, or took it from another run. */
	"TakenOver",
	/** The drain waits for a pod that fits only on cordoned nodes of this drain. */
	"DrainDeadlock",
] as const;

export type Reason = (typeof reasons)[number];

/** 13xx: agents, 21xx to 23xx: budgets, 31xx: API servers, 41xx: the run. A code is never reused. */
export const reasonCodes: Readonly<Record<Reason, string>> = {
	PeerUnreachable: "XPDB1301",
	AgentRefused: "XPDB1303",
	BudgetExhausted: "XPDB2101",
	PodReserved: "XPDB2102",
	PreActivityPending: "XPDB2103",
	LeaseFull: "XPDB2104",
	LeaseHeld: "XPDB2105",
	PodUnseen: "XPDB2106",
	CoverageChanged: "XPDB2107",
	InvalidBudget: "XPDB2201",
	SelectorsDiffer: "XPDB2202",
	FleetsDiffer: "XPDB2203",
	FeatureMissing: "XPDB2204",
	ExpectedPodsUnknown: "XPDB2205",
	WorkloadsNotListed: "XPDB2207",
	GarbledLease: "XPDB2206",
	BudgetSuspended: "XPDB2306",
	DisruptionBudget: "XPDB3101",
	MultipleBudgets: "XPDB3102",
	NamespaceTerminating: "XPDB3103",
	WebhookDenied: "XPDB3104",
	Forbidden: "XPDB3105",
	ServerBusy: "XPDB3106",
	ServerUnreachable: "XPDB3107",
	Refused: "XPDB3108",
	CordonFailed: "XPDB4101",
	PodsNotAllowed: "XPDB4102",
	TimedOut: "XPDB4103",
	Interrupted: "XPDB4104",
	NoOtherNode: "XPDB4105",
	ReturnsToNode: "XPDB4110",
	TakenOver: "XPDB4106",
	NotRecovered: "XPDB4107",
	DrainDeadlock: "XPDB4108",
};
