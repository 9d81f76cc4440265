// Types of the calls to an agent outside rounds: its description, its budgets and their states, and its Leases.
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
	 * Members that the cluster knows, but that its fleet neither lists nor forgets. The cluster counts nothing until a person does one of the
	 * two.
	 */
	readonly unresolved?: readonly { readonly id: string; readonly name: string }[];
	/** The agent's clock when it answered, in milliseconds since the epoch, for people. */
	readonly clockMs?: number;
	readonly forgotten?: readonly ForgottenMember[];
	/** Older agents do not report them. */
	readonly certificates?: AgentCertificates;
	/** The other clusters that contacted this very agent, by a greeting or by an answer to its own greeting. */
	readonly heard?: readonly HeardMember[];
	/** The budgets, if they were requested. Left out if this answer cannot contain them: then listBudgets() returns them or the reason. */
	readonly budgets?: BudgetList;
}

/** The answer of an agent that is asked first: its own description, and those that the other members gave it. */
export interface Introduction extends AgentDescription {
	/** A member that gave no answer in time is missing here, and the caller must ask it itself. */
	readonly others?: readonly AgentDescription[];
}

/** The certificates that the agent uses for TLS at this moment. */
export interface AgentCertificates {
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
	/**
	 * Whether all budgets have been reported since the watch began, or since the last update with `unknown`. If so, budgets that were known
	 * before and not reported since are gone.
	 */
	readonly complete: boolean;
	/** Why nothing is known at this moment. Earlier reports are then no longer valid, and the next update without `unknown` starts again. */
	readonly unknown?: string;
	/** Complete histories. Left out if there is nothing new, or if the agent keeps none. */
	readonly histories?: readonly BudgetHistory[];
}

export interface WatchOptions {
	readonly signal: AbortSignal;
	readonly onUpdate: (update: BudgetsUpdate) => void;
}

export interface WatchUnsupported {
	readonly kind: "unsupported";
}

/** A member of the fleet with all calls that its agent answers. They reject like the calls of Cluster. */
export interface AgentCluster extends Member {
	/** `budgetsOf` are the namespaces whose budgets are reported too. An empty list means all namespaces. */
	describe(budgetsOf?: readonly string[]): Promise<AgentDescription>;
	/** An empty list means all namespaces. */
	listBudgets(namespaces: readonly string[]): Promise<BudgetList>;
	/** Lists Leases for people. An empty list means the Leases of all budgets. */
	listLeases(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]>;
	/** Ends that hold, whichever run has it, but no reservation. Resolves with false if the hold had already ended. */
	endHolding(holding: HoldingReference): Promise<boolean>;
	/**
	 * Reports the budgets of these namespaces and their changes, for people: no decision may depend on them. An empty list means all
	 * namespaces. Rejects with the reason of `signal` if that aborts, and like any other call if the watch breaks. Resolves only if the agent
	 * does not support watches.
	 */
	watchBudgets(namespaces: readonly string[], options: WatchOptions): Promise<WatchUnsupported>;
}
