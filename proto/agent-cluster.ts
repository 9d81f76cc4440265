// Describes the answers of an agent besides those for a round: its identity, its budgets, and its Leases for people.
import type { BudgetName } from "../disruption/budget/budget.ts";
import type { Count, Member, MemberBudget } from "../disruption/budget/cluster.ts";
import type { FleetMember, ForgottenMember } from "../disruption/budget/fleet.ts";
import type { BudgetScope, HoldingReference, ListedLease } from "./listed-lease.ts";

export interface AgentDescription {
	readonly clusterId: string;
	readonly clusterName: string;
	readonly version: string;
	readonly features: readonly string[];
	readonly members: readonly FleetMember[];
	readonly fleetHash: string;
	readonly leaseNamespace: string;
	/**
	 * Members that the cluster knows, and that its fleet neither lists nor forgets. Until a person does one of the two, the cluster counts
	 * nothing.
	 */
	readonly unresolved?: readonly { readonly id: string; readonly name: string }[];
	/** The agent's clock when it answered, in milliseconds since the epoch, for people. */
	readonly clockMs?: number;
	/** Members that the fleet lists as forgotten. */
	readonly forgotten?: readonly ForgottenMember[];
	/** Left out by agents that do not report it. */
	readonly certificates?: AgentCertificates;
	/** The other clusters that contacted this very agent, by a greeting or by an answer to its own greeting. */
	readonly heard?: readonly HeardMember[];
	/** The budgets, if they were requested. Left out if this answer cannot contain them: then listBudgets() returns them or the reason. */
	readonly budgets?: BudgetList;
}

/** The answer of an agent that is asked first: its own description, and those that the other members gave it. */
export interface Introduction extends AgentDescription {
	/** The caller must ask a missing member itself, and gets the reason there. */
	readonly others?: readonly AgentDescription[];
}

/** The certificates that the agent uses for TLS at this moment. */
export interface AgentCertificates {
	/** The certificate that it presents. */
	readonly certificate: CertificateMark;
	/** The CAs whose certificates it accepts. */
	readonly authorities: readonly CertificateMark[];
}

export interface CertificateMark {
	/** The SHA-256 over its DER, as openssl prints it. */
	readonly sha256: string;
	/** Seconds since the epoch. */
	readonly expiresAtSeconds: number;
}

export interface HeardMember {
	readonly id: string;
	readonly agoMs: number;
}

export interface BudgetList {
	readonly clusterId: string;
	readonly fleetHash: string;
	readonly budgets: readonly MemberBudget[];
}

/** A budget as one member has it, and its state there. */
export interface WatchedBudget {
	readonly budget: MemberBudget;
	/** The budget's count without candidates, or why there is none. `budgets` of the count is this budget alone. */
	readonly state: Count | { readonly unknown: string };
}

/** How many pods of a budget were healthy in one member, sampled at regular times. */
export interface BudgetHistory {
	readonly budget: BudgetName;
	/** The time of the last sample: seconds since the epoch by the agent's clock, a multiple of `everySeconds`. */
	readonly lastAt: number;
	readonly everySeconds: number;
	/** The oldest sample first. A sample is undefined if the agent could not look. */
	readonly healthy: readonly (number | undefined)[];
}

/** The changes since the last update. An update without changes is a sign of life. */
export interface BudgetsUpdate {
	readonly changed: readonly WatchedBudget[];
	readonly gone: readonly BudgetName[];
	/** All budgets have been reported since the watch began. Budgets that were known before and not reported since are gone. */
	readonly complete: boolean;
	/** Why nothing is known at this moment. Earlier reports are no longer valid. The next update without it starts again. */
	readonly unknown?: string;
	/** Complete histories. Left out if there is nothing new, or if the agent keeps none. */
	readonly histories?: readonly BudgetHistory[];
}

export interface WatchOptions {
	readonly signal: AbortSignal;
	readonly onUpdate: (update: BudgetsUpdate) => void;
}

/** The agent does not support watches of budgets. */
export interface WatchUnsupported {
	readonly kind: "unsupported";
}

/** A member of the fleet with all calls that its agent answers. All of them reject as the calls of Cluster do. */
export interface AgentCluster extends Member {
	/** Describes the agent. `budgetsOf`: the namespaces whose budgets are reported too. An empty list means all namespaces. */
	describe(budgetsOf?: readonly string[]): Promise<AgentDescription>;
	/** Lists the budgets of these namespaces. An empty list means all namespaces. */
	listBudgets(namespaces: readonly string[]): Promise<BudgetList>;
	/** Lists the Leases of these budgets, for people. An empty list means all budgets. */
	listLeases(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]>;
	/** Ends that hold, whichever run has it. Reservations stay. Resolves with false if the hold had already ended. */
	endHolding(holding: HoldingReference): Promise<boolean>;
	/**
	 * Reports the budgets of these namespaces, or of all, and their changes, for people. No decision may rest on it. Rejects with the
	 * reason of `signal` if that aborts, and like any other call if the watch breaks. Resolves only if the agent does not support watches.
	 */
	watchBudgets(namespaces: readonly string[], options: WatchOptions): Promise<WatchUnsupported>;
}
