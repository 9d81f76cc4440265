// The commands that go on where a run stopped, or take its cordons back.
import type { BudgetName } from "../../disruption/budget.ts";
import type { NodeName } from "../events/events.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import { SuggestedCommands, xpdbCommand } from "../flags/suggested-commands.ts";

/** What was typed, without what is secret. A drain goes on by it: what is done already is not done again. */
export function typedCommand(argv: readonly string[]): string {
	const secret = /^--(token|password)$/;
	const shown = argv.map((word, index) => {
		if (secret.test(argv[index - 1] ?? "")) return "...";
		return word.replace(/^(--token|--password)=.*$/, "$1=...");
	});
	return xpdbCommand(shown);
}

/** `again`: flags that have to be typed again, as they are written. */
export function resumeOperationCommand(id: string, again: readonly string[], globals: GlobalFlags): string {
	return new SuggestedCommands(globals).xpdbInAll(["drain", "--resume", id, ...again]);
}

export function undoOperationCommand(id: string, globals: GlobalFlags): string {
	return new SuggestedCommands(globals).xpdbInAll(["uncordon", "--op", id]);
}

/** The pods that are left, by name: the others may have been replaced under theirs. One command a namespace. */
export function resumeEvictCommand(
	pods: readonly { readonly context: string; readonly namespace: string; readonly pod: string }[],
	globals: GlobalFlags,
): string {
	return [...Map.groupBy(pods, ({ namespace }) => namespace)]
		.map(([namespace, left]) => {
			const names = left.map(({ context, pod }) => (globals.contexts.length > 1 ? `${context}/${pod}` : pod));
			return new SuggestedCommands(globals).xpdbInAll(["evict", ...names, "-n", namespace]);
		})
		.join(" && ");
}

export function undoCommand(nodes: readonly NodeName[], globals: GlobalFlags): string {
	const several = globals.contexts.length > 1;
	const names = nodes.map(({ context, node }) => (several ? `${context}/${node}` : node));
	return new SuggestedCommands(globals).xpdbInAll(["uncordon", ...names]);
}

export function unsuspendCommand({ namespace, name }: BudgetName, globals: GlobalFlags): string {
	return new SuggestedCommands(globals).xpdbInAll(["unsuspend", name, "-n", namespace]);
}
