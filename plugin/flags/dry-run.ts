// Reads --dry-run as kubectl does.
import { UsageError } from "../terminal/errors.ts";
import type { TextSink } from "../terminal/streams.ts";

/** "client": no write is sent. "server": writes are sent as dry runs, which the API server evaluates without changing anything. */
export type DryRun = "none" | "client" | "server";

export function parseDryRun(value: string, stderr: TextSink): DryRun {
	if (value === "none" || value === "server" || value === "client") return value;
	if (value === "unchanged") {
		stderr.write("Warning: --dry-run is deprecated and can be replaced with --dry-run=client.\n");
		return "client";
	}
	if (/^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/.test(value)) {
		const dryRun = /^[1tT]/.test(value) ? "client" : "none";
		stderr.write(
			`Warning: --dry-run=${value} is deprecated (boolean value) and can be replaced with --dry-run=${dryRun}.\n`,
		);
		return dryRun;
	}
	throw new UsageError(`Invalid dry-run value (${value}). Must be "none", "server", or "client".`);
}
