import type { DryRun } from "../flags/dry-run.ts";

/** Returns the suffix that kubectl prints. */
export function dryRunSuffix(dryRun: DryRun): string {
	return dryRun === "none" ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
}
