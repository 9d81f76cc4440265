// Opens the screen of a budgets watch, before the fleet is connected. Problems are printed after the terminal is restored.
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
	readonly left: AbortSignal;
	readonly code: ExitCode;
	/** Restores the terminal, and writes the members' last problems to stderr. */
	close(): void;
}

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
