// The verdicts on a pod for which a grant is requested.
import type { BudgetName } from "./budget.ts";
import type { PodReference, UnavailablePod } from "./cluster.ts";

/** A pod for which a grant is requested, and the cluster that runs it. */
export interface RoundCandidate {
	readonly clusterId: string;
	readonly pod: PodReference;
}

/** Reasons that may pass while the pod waits: through what others do, or when the budgets are listed again (CoverageChanged). */
export const waitReasons = [
	"BudgetExhausted",
	"PodReserved",
	"PreActivityPending",
	"LeaseFull",
	"PodUnseen",
	"CoverageChanged",
] as const;

/** Reasons that usually need a person to act. If a verdict's `retry` is true, they may pass without that. */
export const refusalReasons = [
	"InvalidBudget",
	"SelectorsDiffer",
	"FleetsDiffer",
	"FeatureMissing",
	"ExpectedPodsUnknown",
	"WorkloadsNotListed",
	"GarbledLease",
] as const;

/** Reasons that do not come from a decision: another run holds a Lease, or a request failed. */
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
	/** The budget that is used up, with its numbers, if that is the reason. */
	readonly budget?: BudgetName;
	readonly need?: number;
	readonly healthy?: number;
	readonly expected?: number;
	/** The names of the pre-activities that the pod waits for. */
	readonly preActivities?: readonly string[];
	/** The pods that use up the budget, in all clusters. */
	readonly usedBy: readonly (UnavailablePod & { readonly cluster: string })[];
}

export interface Refused {
	readonly kind: "refused";
	readonly reason: RefusalReason;
	readonly message: string;
	/** Whether a later request may succeed although no person acts here, for example while fleets or selectors are being rolled out. */
	readonly retry: boolean;
}

export interface Free {
	readonly kind: "free";
	/** Why the disruption costs nothing: nothing can make the pod healthy again. */
	readonly why: "Terminating" | "Finished" | "Gone";
}

/** `G` is the answer for a pod that may be disrupted: grantable from the decision, a ticket from the round, or a grant from the queue. */
export type Verdict<G, F extends Free = Free> = G | F | Waiting | Refused;
