// The verdicts on a pod for which a grant is requested.
import type { BudgetName } from "./budget.ts";
import type { PodReference, UnavailablePod } from "./cluster.ts";

/** A pod for which a grant is requested, and the cluster that runs it. */
export interface RoundCandidate {
	readonly clusterId: string;
	readonly pod: PodReference;
}

/** Reasons that may pass while the pod waits. After CoverageChanged, the caller has to list the budgets again. */
export const waitReasons = [
	"BudgetExhausted",
	"PodReserved",
	"PreActivityPending",
	"LeaseFull",
	"PodUnseen",
	"CoverageChanged",
] as const;

/** Reasons that usually need a person to act. If a verdict has `retry`, they may pass by themselves. */
export const refusalReasons = [
	"InvalidBudget",
	"SelectorsDiffer",
	"FleetsDiffer",
	"FeatureMissing",
	"ExpectedPodsUnknown",
	"WorkloadsNotListed",
	"GarbledLease",
] as const;

/** Reasons that do not come from a decision: another run holds a Lease, or a request failed or was refused. */
export const failureReasons = [
	"LeaseHeld",
	"PeerUnreachable",
	"AgentRefused",
	// The following come from an API server and its own budgets.
	"DisruptionBudget",
	"MultipleBudgets",
	"NamespaceTerminating",
	"WebhookDenied",
	"Forbidden",
	"ServerBusy",
	"ServerUnreachable",
	"Refused",
] as const;

export type WaitReason = (typeof waitReasons)[number];
export type RefusalReason = (typeof refusalReasons)[number];
export type FailureReason = (typeof failureReasons)[number];

export interface Waiting {
	readonly kind: "waiting";
	readonly reason: WaitReason;
	readonly message: string;
	/** The used-up budget and its numbers, if `reason` is BudgetExhausted. */
	readonly budget?: BudgetName;
	readonly need?: number;
	readonly healthy?: number;
	readonly expected?: number;
	readonly preActivities?: readonly string[];
	/** The pods that use up the budget. A count lists at most mostUnavailableTold of them. */
	readonly usedBy: readonly (UnavailablePod & { readonly cluster: string })[];
}

export interface Refused {
	readonly kind: "refused";
	readonly reason: RefusalReason;
	readonly message: string;
	/** Whether a later request may succeed by itself, for example while fleets or selectors are being rolled out. */
	readonly retry: boolean;
}

export interface Free {
	readonly kind: "free";
	/** Why the disruption costs nothing: nothing can make the pod healthy again. */
	readonly why: "Terminating" | "Finished" | "Gone";
}

/** `G` is the answer for a pod that may be disrupted: a Grantable from the decision, a ticket from the round, or a grant from the queue. */
export type Verdict<G, F extends Free = Free> = G | F | Waiting | Refused;
