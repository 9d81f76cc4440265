// What an agent answers beyond the round: who it is, and which budgets it has.
import type { BudgetName } from "../disruption/budget/budget.ts";
import type { Count, Member, MemberBudget } from "../disruption/budget/cluster.ts";
import type { FleetMember, ForgottenMember } from "../disruption/budget/fleet.ts";
import type { BudgetScope, HoldingReference, ListedLease } from "./listed-lease.ts";

export interface AgentDescription {
	readonly clusterId: string;
	readonly clusterName: string;
	/** Of the agent. */
	readonly version: string;
	readonly features: readonly string[];
	readonly members: readonly FleetMember[];
	readonly fleetHash: string;
	readonly leaseNamespace: string;
	/** Whom the cluster knows as members, and its fleet neither lists nor forgets: until it does, it counts nothing. */
	readonly unresolved?: readonly { readonly id: string; readonly name: string }[];
	/** Its clock when it answered, since the epoch: for people. */
	readonly clockMs?: number;
	/** Members that were forgotten by name. */
	readonly forgotten?: readonly ForgottenMember[];
	/** Left out by agents that do not tell. */
	readonly certificates?: AgentCertificates;
	/** The other clusters that this very agent has heard of, by a greeting or by an answer to its own. */
	readonly heard?: readonly HeardMember[];
	/** Where they were asked for: left out where they cannot be had this way, and listBudgets() has them or says why not. */
	readonly budgets?: BudgetList;
}

/** What an agent says to whoever meets it: of itself, and what the other members said to it. */
export interface Introduction extends AgentDescription {
	/** Whoever is missing is to be asked, and says why. */
	readonly others?: readonly AgentDescription[];
}

/** What an agent uses for TLS at this moment. */
export interface AgentCertificates {
	/** What it shows. */
	readonly certificate: CertificateMark;
	/** Whose certificates it takes. */
	readonly authorities: readonly CertificateMark[];
}

export interface CertificateMark {
	/** The SHA-256 over its DER, as openssl prints it. */
	readonly sha256: string;
	/** Since the epoch. */
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

/** A budget as one member has it, and what it comes to there. */
export interface WatchedBudget {
	readonly budget: MemberBudget;
	/** Its count without candidates, of which `budgets` is this one alone; or why there is none. */
	readonly state: Count | { readonly unknown: string };
}

/** How many pods of a budget were healthy in one member, looked at in even steps of the wall clock. */
export interface BudgetHistory {
	readonly budget: BudgetName;
	/** Of the last look: seconds since the epoch by the agent's clock, a multiple of `everySeconds`. */
	readonly lastAt: number;
	readonly everySeconds: number;
	/** The oldest first; undefined where the agent could not look. */
	readonly healthy: readonly (number | undefined)[];
}

/** What has changed since the last one; one without changes is a sign of life. */
export interface BudgetsUpdate {
	readonly changed: readonly WatchedBudget[];
	readonly gone: readonly BudgetName[];
	/** All that there is has been told: what was known before, and was not told since the watch began, is gone. */
	readonly complete: boolean;
	/** Why nothing is known at this moment: what was told before does not hold. The next one without it begins anew. */
	readonly unknown?: string;
	/** Each as a whole. Left out where there is nothing new, or the agent keeps none. */
	readonly histories?: readonly BudgetHistory[];
}

export interface WatchOptions {
	readonly signal: AbortSignal;
	readonly onUpdate: (update: BudgetsUpdate) => void;
}

/** The agent is older than watches of budgets. */
export interface WatchUnsupported {
	readonly kind: "unsupported";
}

/** A member of the fleet with all that its agent answers. */
export interface AgentCluster extends Member {
	/** `budgetsOf`: the namespaces whose budgets are told as well, none for those of all. */
	describe(budgetsOf?: readonly string[]): Promise<AgentDescription>;
	/** No namespaces: all of them. */
	listBudgets(namespaces: readonly string[]): Promise<BudgetList>;
	/** The Leases of these budgets, for people; none of them: all budgets'. */
	listLeases(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]>;
	/** Ends that holding, whoever has it; reservations stay. False where it had ended before. */
	endHolding(holding: HoldingReference): Promise<boolean>;
	/**
	 * The budgets of these namespaces, or of all, and what becomes of them, for people: no decision may rest on it. Rejects with
	 * the reason of `signal` where that aborts, as any call where the watch breaks off.
	 */
	watchBudgets(namespaces: readonly string[], options: WatchOptions): Promise<WatchUnsupported>;
}
