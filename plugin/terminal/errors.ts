// Defines the errors of a command, of the kubeconfig and of the fleet. The user sees each as a message and an exit code.
import { BoundedError, longestMessage } from "../../disruption/bounded-error.ts";
import { indentMore } from "../../disruption/printable.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { type ExitCode, exitCode } from "./exit.ts";

/** The command was used wrongly, or something that the message names prevents it. The user has to act. */
export class UsageError extends BoundedError {
	override readonly name = "UsageError";
	readonly reason = "Usage";
	/** Printed on its own line. */
	readonly hint: string | undefined;
	constructor(message: string, hint?: string) {
		super(message, undefined, "own");
		this.hint = hint;
	}
}

/** The kubeconfig, a flag or the environment does not say correctly how to reach a cluster. The message is complete, as in kubectl. */
export class KubeconfigError extends BoundedError {
	override readonly name = "KubeconfigError";
	readonly reason = "Kubeconfig";
	constructor(message: string, options?: ErrorOptions) {
		// The lines are kubectl's own. A name from a kubeconfig stays on one line (kubernetes/connection.ts).
		super(message, options, "own");
	}
}

/**
 * The fleet cannot be used: a member gives no answer or cannot be reached, or the members disagree. Nothing is evicted without all of them.
 */
export class FleetUncoveredError extends BoundedError {
	override readonly name = "FleetUncoveredError";
	readonly reason = "FleetUncovered";
	readonly exitCode: ExitCode = exitCode.failedClosed;
	/** One line for each cluster or step that failed, and what to do about it. */
	readonly details: readonly string[];
	/** Whether the details already say what to do. */
	readonly isExplained: boolean;
	constructor(
		message: string,
		details: readonly string[],
		{ isExplained = false, ...options }: ErrorOptions & { readonly isExplained?: boolean } = {},
	) {
		super(message, options);
		this.isExplained = isExplained;
		this.details = details.map((detail) => shortenTo(indentMore(detail).replaceAll("\n", "\n  "), longestMessage));
	}
}

/** Returns the error for two contexts of one cluster, whose pods would count twice. */
export function sameClusterError(a: string, b: string, id?: string): UsageError {
	const which = id === undefined ? "" : ` (${id})`;
	return new UsageError(`contexts "${a}" and "${b}" are the same cluster${which}`, "Name each cluster once");
}
