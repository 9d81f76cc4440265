import type { DryRun } from "../flags/dry-run.ts";

/** The same suffix as kubectl's. */
export function dryRunSuffix(dryRun: DryRun): string {
	return dryRun === "none" ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
}
