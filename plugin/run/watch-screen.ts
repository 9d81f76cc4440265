// The screen of a watch of budgets: it is drawn before the fleet is reached, so that a person sees at once that something is under way; what
// goes wrong meanwhile is told when the terminal is as it was.
import { booleanFlag, type CommandDependencies, type CommandInput } from "../flags/command.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { RowChanges } from "../fleet/budget-watch.ts";
import type { HealthyHistories } from "../fleet/healthy-history.ts";
import type { ExitCode } from "../terminal/exit.ts";
import type { BudgetScreenOptions } from "../ui/open-budget-screen.tsx";
import { screenOfWatch } from "./screen-of-watch.ts";

export interface WatchScreen {
	readonly see: (changes: RowChanges) => void;
	readonly seeHistories: (histories: HealthyHistories) => void;
	/** Aborts when the person leaves. */
	readonly left: AbortSignal;
	/** Of a person who has left. */
	readonly code: ExitCode;
	/** Gives the terminal back; what its members said last, for stderr, where they said anything. */
	close(): void;
}

/** Undefined where lines are written. */
export async function openWatchScreen(
	input: CommandInput,
	deps: CommandDependencies,
	asks: Pick<BudgetScreenOptions, "explain" | "readObject" | "contextOf">,
): Promise<WatchScreen | undefined> {
	const { contexts, namespace } = input.globals;
	let problems: readonly string[] = [];
	const opened = await screenOfWatch(input, deps, ({ openBudgetScreen }, options) =>
		openBudgetScreen({
			...options,
			contexts,
			namespaces: booleanFlag(input, "all-namespaces") ? "all" : namespace === undefined ? "own" : { only: namespace },
			...asks,
			suggest: new SuggestedCommands(input.globals),
		}),
	);
	if (!opened) return undefined;
	const { screen, left } = opened;
	return {
		see(changes) {
			problems = changes.members.flatMap(({ name, problem: why }) => (why === undefined ? [] : [`${name}: ${why}`]));
			screen.see(changes);
		},
		seeHistories: (histories) => screen.seeHistories(histories),
		left,
		get code() {
			return opened.code;
		},
		close: () => opened.close(problems),
	};
}
