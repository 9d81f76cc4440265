// Names the findings of `check`, each with a code and a severity. A finding that a round would also report has the round's name and code
// (events/reason.ts).
import { type Reason, reasonCodes } from "../events/reason.ts";

/** Best first. Unknown means that a fact could not be read, which is never treated as ok. */
export const checkResults = ["ok", "warning", "unknown", "failed"] as const;

export type CheckResult = (typeof checkResults)[number];
export type Problem = Exclude<CheckResult, "ok">;

/**
 * 10xx check itself, 11xx API servers, 12xx rights, 13xx agents, 14xx the fleet, 15xx clocks and certificates, 16xx policies, 23xx
 * budgets. A code is never reused.
 */
const own = {
	NotChecked: { code: "XPDB1001", result: "unknown" },
	ApiServerSilent: { code: "XPDB1101", result: "unknown" },
	ApiServerTooOld: { code: "XPDB1102", result: "failed" },
	SameCluster: { code: "XPDB1103", result: "failed" },
	BudgetKindMissing: { code: "XPDB1104", result: "failed" },
	BudgetKindDiffers: { code: "XPDB1105", result: "warning" },
	ReachRightMissing: { code: "XPDB1201", result: "failed" },
	TokenRightMissing: { code: "XPDB1202", result: "failed" },
	EvictRightMissing: { code: "XPDB1203", result: "failed" },
	DrainRightMissing: { code: "XPDB1204", result: "warning" },
	ReadRightMissing: { code: "XPDB1205", result: "warning" },
	InstallRightMissing: { code: "XPDB1206", result: "failed" },
	NamespaceEnding: { code: "XPDB1207", result: "failed" },
	NoAgents: { code: "XPDB1311", result: "failed" },
	AgentSilent: { code: "XPDB1312", result: "unknown" },
	SingleAgent: { code: "XPDB1313", result: "warning" },
	AgentNotReady: { code: "XPDB1314", result: "warning" },
	VersionsDiffer: { code: "XPDB1302", result: "warning" },
	VersionsApart: { code: "XPDB1315", result: "failed" },
	FeaturesDiffer: { code: "XPDB1316", result: "warning" },
	ForeignAgentPods: { code: "XPDB1317", result: "warning" },
	AgentsThere: { code: "XPDB1318", result: "warning" },
	AgentUnsafe: { code: "XPDB1319", result: "failed" },
	AgentMemory: { code: "XPDB1320", result: "warning" },
	MemberUnresolved: { code: "XPDB1401", result: "failed" },
	MemberWithoutContext: { code: "XPDB1402", result: "warning" },
	MemberWithoutAddress: { code: "XPDB1403", result: "warning" },
	MembersApart: { code: "XPDB1404", result: "warning" },
	ServiceWithoutAddress: { code: "XPDB1405", result: "warning" },
	AddressDiffers: { code: "XPDB1406", result: "warning" },
	ClockSkew: { code: "XPDB1501", result: "warning" },
	CertificateExpires: { code: "XPDB1502", result: "warning" },
	CaExpires: { code: "XPDB1503", result: "warning" },
	PolicyMissing: { code: "XPDB1601", result: "warning" },
	PolicyWeak: { code: "XPDB1602", result: "warning" },
	XpdbBeside: { code: "XPDB1603", result: "warning" },
	CaKeyReadable: { code: "XPDB1604", result: "warning" },
	BudgetsDiffer: { code: "XPDB2301", result: "warning" },
	BudgetNeverMet: { code: "XPDB2302", result: "warning" },
	BudgetSelectsNothing: { code: "XPDB2303", result: "warning" },
	PodsWithoutOwner: { code: "XPDB2304", result: "warning" },
	PodsMislabelled: { code: "XPDB2305", result: "warning" },
} as const satisfies Readonly<Record<string, ReasonFacts>>;

/** Reasons of rounds that a check can find without a round. */
const ofRounds = {
	PeerUnreachable: "unknown",
	AgentRefused: "unknown",
	FleetsDiffer: "failed",
	InvalidBudget: "failed",
	SelectorsDiffer: "failed",
	FeatureMissing: "failed",
	ExpectedPodsUnknown: "failed",
	WorkloadsNotListed: "failed",
	GarbledLease: "failed",
	BudgetSuspended: "warning",
} as const satisfies Partial<Readonly<Record<Reason, Problem>>>;

interface ReasonFacts {
	readonly code: string;
	readonly result: Problem;
}

export type OwnCheckReason = keyof typeof own;
export type RoundCheckReason = keyof typeof ofRounds;
export type CheckReason = OwnCheckReason | RoundCheckReason;

export const ownCheckReasons = own;
export const roundCheckReasons = ofRounds;

export function isRoundReason(reason: string): reason is RoundCheckReason {
	return Object.hasOwn(ofRounds, reason);
}

export function factsOf(reason: CheckReason): ReasonFacts {
	return isRoundReason(reason) ? { code: reasonCodes[reason], result: ofRounds[reason] } : own[reason];
}
