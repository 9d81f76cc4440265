import type { DryRun } from "../flags/dry-run.ts";

/** Returns the suffix that kubectl prints after the result of a dry run. */
export function dryRunSuffix(dryRun: DryRun): string {
	return dryRun === "none" ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
}
