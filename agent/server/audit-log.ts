// Writes an audit line for each Acquire, Commit, Cancel and EndHolding, and for each call refused as unauthenticated, not permitted or
// invalid. A line is one JSON object on stdout, whatever the log level.
//
// Verified data (user, tokenId, member) and claims (claimedHolder) have separate fields; a token is in none. `member` is the cluster that
// the caller's certificate names. That cluster is this one or a member of the fleet, except in a line about a greeting. Lines are bounded
// in length, because callers choose much of their content.
import { type StatusObject, status } from "@grpc/grpc-js";
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { shortenTo } from "../../disruption/quote.ts";
import type { Logger } from "../process/log.ts";
import { type Caller, callerFields } from "../peers/caller.ts";

export interface AuditRecord {
	readonly method: string;
	readonly port: "token" | "peer";
	/** Undefined until the caller is verified. */
	caller?: Caller;
	/** The id of the member that the call names; "" if it names none. Undefined if the message was not read. */
	cluster?: string;
	budget?: BudgetName;
	details?: AuditDetails;
	outcome?: string;
}

export interface AuditDetails {
	readonly candidates?: number;
	readonly grants?: number;
	readonly ids?: number;
	/** The Lease's transitions, which link a commit to its acquire. */
	readonly transitions?: number;
	/** The holder's name as the caller claims it, unverified. */
	readonly claimedHolder?: string;
	/** For a cancel: whether an eviction may have been sent. */
	readonly sent?: boolean;
}

export interface AuditLog {
	/** `refusal`: the status of the call; undefined if it was answered. */
	ended(record: AuditRecord, refusal: Partial<StatusObject> | undefined): void;
}

const auditedMethods = new Set(["Acquire", "Commit", "Cancel", "EndHolding"]);
const refusals: ReadonlySet<status | undefined> = new Set([
	status.UNAUTHENTICATED,
	status.PERMISSION_DENIED,
	status.INVALID_ARGUMENT,
	status.RESOURCE_EXHAUSTED,
]);

const longestText = 253;
const longestReason = 500;

export function createAuditLog(log: Logger): AuditLog {
	// The configured log level must not drop audit lines.
	const audit = log.child({ audit: true }, { level: "info" });
	return {
		ended(record, refusal) {
			const { method, port, caller, cluster, budget, details = {}, outcome = "answered" } = record;
			const refused = refusals.has(refusal?.code);
			if (!refused && !auditedMethods.has(method)) return;
			const { claimedHolder } = details;
			audit.info(
				{
					method,
					port,
					...(caller && callerFields(method === "Greet" ? withoutUser(caller) : caller)),
					...(cluster !== undefined && { cluster: shortenTo(cluster, longestText) }),
					...(budget && { budget: shortenTo(formatBudgetName(budget), 2 * longestText) }),
					...details,
					...(claimedHolder !== undefined && { claimedHolder: shortenTo(claimedHolder, longestText) }),
					...(refusal
						? {
								outcome: refused ? "refused" : "failed",
								code: status[refusal.code ?? status.UNKNOWN],
								why: shortenTo(refusal.details ?? "", longestReason),
							}
						: { outcome }),
				},
				"Audit",
			);
		},
	};
}

/** A cluster that greets need not be a member, so it is not trusted to name the user for whom it calls. */
function withoutUser(caller: Caller): Caller {
	return caller.kind === "peer" ? { kind: "peer", member: caller.member } : caller;
}
