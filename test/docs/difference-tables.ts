// Generates the differences from kubectl for docs/kubectl.md. Flags have their own table, because readers look them up.
import type { DeliberateDifference } from "../e2e/parity/deliberate-difference.ts";
import { deliberateDifferences } from "../e2e/parity/deliberate-differences.ts";
import type { GeneratedParts } from "./generated-parts.ts";
import { table } from "./markdown-text.ts";

export function differenceTables(): GeneratedParts {
	const atFlag = ({ subject }: DeliberateDifference): boolean => /`-{1,2}[a-z]/.test(subject);
	const byFlag = deliberateDifferences.filter(atFlag).toSorted((a, b) => (flagOf(a) < flagOf(b) ? -1 : 1));
	return {
		"at a flag": differenceTable(byFlag),
		"everywhere else": differenceTable(deliberateDifferences.filter((difference) => !atFlag(difference))),
	};
}

function flagOf({ subject }: DeliberateDifference): string {
	return /`-{1,2}([a-z][^`]*)`/.exec(subject)?.[1] ?? "";
}

function differenceTable(differences: readonly DeliberateDifference[]): string {
	return table(
		["Where", "kubectl", "kubectl xpdb", "Why", "Situation in the test"],
		differences.map(({ subject, kubectl, ours, reason, situations: [first = ""] }) => [
			subject,
			kubectl,
			ours,
			reason,
			first,
		]),
	);
}
