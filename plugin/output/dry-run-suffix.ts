import type { DryRun } from "../flags/dry-run.ts";

/** Returns what kubectl appends to a result. */
export function dryRunSuffix(dryRun: DryRun): string {
	return dryRun === "none" ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
}
