// Describes a pod that uses up a budget: its state, its holder, when it frees the budget, and a command that shows more.
import type { UsedBy } from "../events/events.ts";
import { whenItFrees } from "../events/used-by-text.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { piece, type StyledLine } from "./styled-line.ts";
import { holderText, sinceText, stateText } from "./user-text.ts";

interface CulpritOptions {
	readonly context: string | undefined;
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** In ms since the epoch. */
	readonly now: number;
	readonly suggest: SuggestedCommands;
}

export function culpritLines(used: UsedBy, { context, budget, now, suggest }: CulpritOptions): readonly StyledLine[] {
	const { namespace, pod, cluster, message = "" } = used;
	const since = sinceText(used, now);
	const holder = holderText(used);
	const command = ["describe", "pod", pod, "-n", namespace];
	return [
		[piece(`Pod ${namespace}/${pod} in ${context ?? cluster}`, "bold")],
		[piece(`${stateText(used)}${since === "" ? "" : ` for ${since}`}${holder === "" ? "" : `, ${holder}`}`, "warn")],
		...(message === "" ? [] : [[piece(message, "warn")]]),
		[piece(`It uses 1 of what budget ${budget} allows; ${whenItFrees(used)}.`)],
		[],
		context === undefined
			? [piece(`No context of this run leads to cluster ${cluster}.`)]
			: [piece(`See: ${suggest.kubectl(command, context)}`)],
	];
}

export function culpritMark(at: number, selected: number | undefined): string {
	return at === selected ? "> " : "  ";
}

/** Printed beside the title of the pods that use up a budget. */
export const culpritKeys = "tab selects one, e explains it, y shows it";
