// Makes the document of `kubectl xpdb check` for -o json and -o yaml, as in plugin/output/schemas/check-v1.json.
import { factsOf } from "./check-reason.ts";
import type { CheckOutcome, CheckRow } from "./check-report.ts";

const checkSchema = "xpdb.check/1.0";

export function checkDocument(rows: readonly CheckRow[], { exitCode, counts }: CheckOutcome): object {
	return {
		schema: checkSchema,
		success: exitCode === 0,
		exitCode,
		counts,
		checks: rows.map(({ category, title, result, isNeeded, cells, findings }) => ({
			category,
			title,
			result,
			needed: isNeeded,
			clusters: cells.map(({ cluster, result: here, text }) => ({ name: cluster, result: here, text })),
			findings: findings.map(({ reason, result: how, cluster, message, fix }) => ({
				code: factsOf(reason).code,
				reason,
				result: how,
				...(cluster !== "" && { cluster }),
				message,
				...(fix !== undefined && { fix }),
			})),
		})),
	};
}
