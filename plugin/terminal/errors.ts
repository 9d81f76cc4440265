// The failures that a person sees as one message and an exit code, by who has to act.
import { BoundedError, longestMessage } from "../../disruption/bounded-error.ts";
import { indentMore } from "../../disruption/printable.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { type ExitCode, exitCode } from "./exit.ts";

/** The command was used wrongly: the person typing has to change it. */
export class UsageError extends BoundedError {
	override readonly name = "UsageError";
	readonly reason = "Usage";
	/** Printed on a line of its own. */
	readonly hint: string | undefined;
	constructor(message: string, hint?: string) {
		super(message, undefined, "own");
		this.hint = hint;
	}
}

/** A kubeconfig that does not say how to reach a cluster. The message is complete, as kubectl's is. */
export class KubeconfigError extends BoundedError {
	override readonly name = "KubeconfigError";
	readonly reason = "Kubeconfig";
	constructor(message: string, options?: ErrorOptions) {
		// They are kubectl's; names of a kubeconfig are on one of them (kubernetes/connection.ts).
		super(message, options, "own");
	}
}

/** Members of the fleet that cannot be asked: nothing is evicted without all of them. */
export class FleetUncoveredError extends BoundedError {
	override readonly name = "FleetUncoveredError";
	readonly reason = "FleetUncovered";
	readonly exitCode: ExitCode = exitCode.failedClosed;
	/** One line for each cluster or step that failed, and what to do about it. */
	readonly details: readonly string[];
	constructor(message: string, details: readonly string[], options?: ErrorOptions) {
		super(message, options);
		this.details = details.map((detail) => shortenTo(indentMore(detail).replaceAll("\n", "\n  "), longestMessage));
	}
}

/** Two contexts of one cluster: its pods would count twice. `id` says which cluster, where it is known. */
export function sameClusterError(a: string, b: string, id?: string): UsageError {
	const which = id === undefined ? "" : ` (${id})`;
	return new UsageError(`contexts "${a}" and "${b}" are the same cluster${which}`, "Name each cluster once");
}
