// Reads --for of evict and drain, which says whether the command also waits, after its pods are gone, until their budgets have recovered.
import { UsageError } from "../terminal/errors.ts";
import { type CommandInput, textFlag } from "./command.ts";
import type { FlagTable } from "./flag.ts";

export const waitUntilFlag: FlagTable = {
	for: {
		kind: "text",
		default: "deleted",
		value: "deleted|replaced",
		describe: "replaced: wait until the pods' budgets have recovered",
	},
};

/** Whether the flag is --for=replaced. Throws UsageError if it has an unknown value. */
export function readReplaced(input: CommandInput, command: "evict" | "drain"): boolean {
	const until = textFlag(input, "for");
	if (until === "deleted" || until === "replaced") return until === "replaced";
	throw new UsageError(
		`Invalid --for value (${until}). Must be "deleted" or "replaced".`,
		`See 'kubectl xpdb ${command} --help' for usage.`,
	);
}
