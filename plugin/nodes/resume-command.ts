// Builds the commands that continue a stopped run or take back what it did.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { NodeName } from "../events/events.ts";
import { type SuggestedCommands, xpdbCommand } from "../flags/suggested-commands.ts";

/**
 * Returns the typed command, with "..." for each token and password. A drain continues if it is run again, because evicted pods have left
 * the nodes.
 */
export function typedCommand(argv: readonly string[]): string {
	const secret = /^--(token|password)$/;
	const shown = argv.map((word, index) => {
		if (secret.test(argv[index - 1] ?? "")) return "...";
		return word.replace(/^(--token|--password)=.*$/, "$1=...");
	});
	return xpdbCommand(shown);
}

/** `again` has the flags to type again, as on the command line. */
export function resumeOperationCommand(id: string, again: readonly string[], suggest: SuggestedCommands): string {
	return suggest.xpdbInAll(["drain", "--resume", id, ...again]);
}

export function undoOperationCommand(id: string, suggest: SuggestedCommands): string {
	return suggest.xpdbInAll(["uncordon", "--op", id]);
}

/**
 * Returns one command for each namespace. Each command names the remaining pods one by one, because pods that are gone may have been
 * replaced under the same name.
 */
export function resumeEvictCommand(
	pods: readonly { readonly context: string; readonly namespace: string; readonly pod: string }[],
	suggest: SuggestedCommands,
): string {
	return [...Map.groupBy(pods, ({ namespace }) => namespace)]
		.map(([namespace, left]) => {
			const names = left.map(({ context, pod }) => (suggest.inSeveral ? `${context}/${pod}` : pod));
			return suggest.xpdbInAll(["evict", ...names, "-n", namespace]);
		})
		.join(" && ");
}

export function undoCommand(nodes: readonly NodeName[], suggest: SuggestedCommands): string {
	const names = nodes.map(({ context, node }) => (suggest.inSeveral ? `${context}/${node}` : node));
	return suggest.xpdbInAll(["uncordon", ...names]);
}

export function unsuspendCommand({ namespace, name }: BudgetName, suggest: SuggestedCommands): string {
	return suggest.xpdbInAll(["unsuspend", name, "-n", namespace]);
}
