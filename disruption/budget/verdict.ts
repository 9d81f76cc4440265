// What is said of a pod for which a grant is wanted, short of granting it.
import type { BudgetName } from "./budget.ts";
import type { PodReference, UnavailablePod } from "./cluster.ts";

/** A pod for which a grant is wanted, in the cluster that runs it. */
export interface RoundCandidate {
	readonly clusterId: string;
	readonly pod: PodReference;
}

/** Reasons that end by themselves, by what others do or by listing the budgets again (CoverageChanged). */
export const waitReasons = [
	"BudgetExhausted",
	"PodReserved",
	"PreActivityPending",
	"LeaseFull",
	"PodUnseen",
	"CoverageChanged",
] as const;

/** Reasons that somebody has to do something about. */
export const refusalReasons = [
	"InvalidBudget",
	"SelectorsDiffer",
	"FleetsDiffer",
	"FeatureMissing",
	"ExpectedPodsUnknown",
	"WorkloadsNotListed",
	"GarbledLease",
] as const;

/** Reasons that are no decision's: a question or a request that failed. */
export const failureReasons = [
	"LeaseHeld",
	"PeerUnreachable",
	"AgentRefused",
	// An API server, and its own budgets.
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
	/** The budget that has nothing left, with its numbers, where it is one. */
	readonly budget?: BudgetName;
	readonly need?: number;
	readonly healthy?: number;
	readonly expected?: number;
	/** The names of those that hold the pod back. */
	readonly preActivities?: readonly string[];
	/** Who uses the budget up, over all clusters. */
	readonly usedBy: readonly (UnavailablePod & { readonly cluster: string })[];
}

export interface Refused {
	readonly kind: "refused";
	readonly reason: RefusalReason;
	readonly message: string;
	/** Whether asking again later may help without anybody doing something here: fleets and selectors that are being rolled out. */
	readonly retry: boolean;
}

export interface Free {
	readonly kind: "free";
	/** Nothing can make the pod healthy again, so its disruption costs nothing. */
	readonly why: "Terminating" | "Finished" | "Gone";
}
