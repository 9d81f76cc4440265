// Combines the checks into a report: a row for each check, with a cell for each cluster, and the findings.
//
// Guarantee: a cell is "ok" only if the fact that it states was read. A cluster without a reading gets "?" and a finding that says why.
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import { type CheckReason, type CheckResult, checkResults, factsOf, type Problem } from "./check-reason.ts";

export interface CheckFinding {
	readonly reason: CheckReason;
	readonly result: Problem;
	/** The column's name; "" if the finding is about the fleet. */
	readonly cluster: string;
	readonly message: string;
	/** A command that helps, or that shows more. */
	readonly fix?: string;
}

export interface CheckCell {
	readonly cluster: string;
	readonly result: CheckResult;
	/** "?" if nothing is known. */
	readonly text: string;
}

export interface CheckRow {
	readonly category: CheckCategory;
	/** States what holds if all is well. */
	readonly title: string;
	readonly result: CheckResult;
	readonly cells: readonly CheckCell[];
	readonly findings: readonly CheckFinding[];
	/** Whether an unknown result counts as a failure. Otherwise it counts as a warning at most. */
	readonly isNeeded: boolean;
}

export type CheckCategory = "access" | "rights" | "agents" | "fleet" | "policies" | "budgets";

export type CheckTitle = Pick<CheckRow, "category" | "title" | "isNeeded">;

export interface ClusterCheck {
	readonly text: string;
	readonly findings: readonly FoundProblem[];
}

export type FoundProblem = Pick<CheckFinding, "reason" | "message"> & { readonly fix?: string | undefined };

export type Reading<T> =
	| { readonly kind: "read"; readonly value: T }
	| { readonly kind: "unread"; readonly why: string };

/** `ofCluster` returns undefined for a cluster that was not checked. `ofFleet` has the findings that belong to no single cluster. */
export function checkRow(
	title: CheckTitle,
	clusters: readonly string[],
	ofCluster: (cluster: string) => ClusterCheck | undefined,
	ofFleet: readonly FoundProblem[] = [],
): CheckRow {
	const checked = clusters.map((cluster) => ({
		cluster,
		...(ofCluster(cluster) ?? notChecked("it could not be asked")),
	}));
	const findings = [
		...checked.flatMap(({ cluster, findings: found }) => found.map((each) => finding(each, cluster))),
		...ofFleet.map((each) => finding(each, "")),
	];
	const cells = checked.map(({ cluster, text, findings: found }) => ({
		cluster,
		text,
		result: worst(found.map(({ reason }) => factsOf(reason).result)),
	}));
	// Without any cluster, nothing was read.
	const results = clusters.length === 0 ? (["unknown"] as const) : [];
	return { ...title, cells, findings, result: worst([...results, ...findings.map(({ result }) => result)]) };
}

function finding({ reason, message, fix }: FoundProblem, cluster: string): CheckFinding {
	return { reason, result: factsOf(reason).result, cluster, message, ...(fix !== undefined && { fix }) };
}

export function notChecked(why: string, fix?: string): ClusterCheck {
	return { text: "?", findings: [{ reason: "NotChecked", message: why, fix }] };
}

export function ofReading<T>(reading: Reading<T>, judge: (value: T) => ClusterCheck): ClusterCheck {
	return reading.kind === "unread" ? notChecked(reading.why) : judge(reading.value);
}

export function worst(results: readonly CheckResult[]): CheckResult {
	return checkResults.findLast((result) => results.includes(result)) ?? "ok";
}

export interface CheckOutcome {
	readonly exitCode: ExitCode;
	readonly counts: Readonly<Record<CheckResult, number>>;
	/** Codes of the findings that have to be fixed first. */
	readonly blocking: readonly string[];
}

export function outcomeOf(rows: readonly CheckRow[], failOnWarning: boolean): CheckOutcome {
	const counts = { ok: 0, warning: 0, unknown: 0, failed: 0 };
	for (const { result } of rows) counts[result] += 1;
	const isUnknown = ({ isNeeded, result }: CheckRow): boolean => isNeeded && result === "unknown";
	const warns = rows.some(({ result }) => result !== "ok");
	const blocking = rows.flatMap((row) =>
		row.findings
			.filter(({ result }) => result === "failed" || (row.isNeeded && result === "unknown"))
			.map(({ reason }) => factsOf(reason).code),
	);
	const codes = [...new Set(blocking)];
	const { code: notChecked } = factsOf("NotChecked");
	return {
		counts,
		// "Not checked" is often a consequence of another finding, so it is named only if it is the only code.
		blocking: codes.length > 1 ? codes.filter((code) => code !== notChecked) : codes,
		exitCode:
			counts.failed > 0 || (failOnWarning && warns && !rows.some(isUnknown))
				? exitCode.neverPossible
				: rows.some(isUnknown)
					? exitCode.failedClosed
					: exitCode.done,
	};
}
