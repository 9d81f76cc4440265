import type { DryRun } from "../flags/dry-run.ts";

/** As kubectl prints it after a result. */
export function dryRunSuffix(dryRun: DryRun): string {
	return dryRun === "none" ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
}
