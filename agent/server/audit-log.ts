// Writes the audit lines: who requested what, and with which result. Each line is one JSON object on stdout, together with the rest of the
// log and independent of the log level. Every acquire, commit, cancel and end of a holding has one, and so does every call that is refused
// as invalid or not permitted. Verified data (user, tokenId, member) and claims (claimedHolder) have fields of their own; a token is in
// none. `member` is the cluster that the caller's certificate names: only in a line about a greeting, the fleet need not list it. Each line
// is bounded in length, because callers choose much of its content.
import { type StatusObject, status } from "@grpc/grpc-js";
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { shortenTo } from "../../disruption/quote.ts";
import type { Logger } from "../process/log.ts";
import { type Caller, callerFields } from "../peers/caller.ts";

/** The facts about a call that became known while it was served. */
export interface AuditRecord {
	readonly method: string;
	readonly port: "token" | "peer";
	/** Undefined until the caller is verified. */
	caller?: Caller;
	/** The id of the member that the call names; "" if it names none. Undefined if the message was not read. */
	cluster?: string;
	budget?: BudgetName;
	/** Numbers of items, and the caller's claim of who it is. */
	details?: AuditDetails;
	/** The result of an answered call. */
	outcome?: string;
}

export interface AuditDetails {
	readonly candidates?: number;
	readonly grants?: number;
	readonly ids?: number;
	/** The Lease's transitions, which link a commit to its acquire. */
	readonly transitions?: number;
	/** What the caller calls itself: a person's name in it is a claim. */
	readonly claimedHolder?: string;
	/** For a cancel: whether an eviction may have been sent. */
	readonly sent?: boolean;
}

export interface AuditLog {
	/** Writes the line of a call that is over, if it has one. `refusal` is the status of the call; undefined if it was answered. */
	ended(record: AuditRecord, refusal: Partial<StatusObject> | undefined): void;
}

const auditedMethods = new Set(["Acquire", "Commit", "Cancel", "EndHolding"]);
/** The statuses of calls that the caller may not make, or that are invalid. */
const refusals: ReadonlySet<status | undefined> = new Set([
	status.UNAUTHENTICATED,
	status.PERMISSION_DENIED,
	status.INVALID_ARGUMENT,
	status.RESOURCE_EXHAUSTED,
]);

const longestText = 253;
const longestReason = 500;

export function createAuditLog(log: Logger): AuditLog {
	// Audit lines are written even if the log level is set to fewer lines.
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
