// The screen of a watch: whether there is one, and what becomes of it. It is drawn before the fleet is reached, so that a person sees at
// once that something is under way; what goes wrong meanwhile is told when the terminal is as it was.
import { booleanFlag, type CommandDependencies, type CommandInput } from "../flags/command.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { RowChanges } from "../fleet/budget-watch.ts";
import type { HealthyHistories } from "../fleet/healthy-history.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import type { BudgetScreenOptions } from "../ui/open-budget-screen.tsx";
import { hasUnicode, readUiChoice, screenProblem, wantsColour } from "./ui-choice.ts";

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
	{ terminal, env, streams, interrupts }: CommandDependencies,
	asks: Pick<BudgetScreenOptions, "explain" | "readObject" | "contextOf">,
): Promise<WatchScreen | undefined> {
	const choice = readUiChoice(input, env);
	if (choice === "plain" || choice === "none") return undefined;
	if (choice === "auto" && input.globals.verbosity > 0) return undefined;
	const problem = screenProblem(terminal, env);
	if (problem !== undefined || !terminal) {
		if (choice === "full" && input.given.has("ui")) streams.stderr.write(`Warning: no full screen: ${problem}\n`);
		return undefined;
	}
	const { contexts, namespace } = input.globals;
	const { openBudgetScreen } = await import("../ui/screens.ts");
	const left = new AbortController();
	let code: ExitCode = exitCode.done;
	let isClosed = false;
	let problems: readonly string[] = [];
	let failure: string | undefined;
	const leave = (why: ExitCode): void => {
		code = why;
		left.abort(new Error("left"));
	};
	const screen = openBudgetScreen({
		terminal,
		hasColour: wantsColour(env),
		hasUnicode: hasUnicode(env, process.platform),
		contexts,
		namespaces: booleanFlag(input, "all-namespaces") ? "all" : namespace === undefined ? "own" : { only: namespace },
		wallClock: () => Date.now(),
		...asks,
		suggest: new SuggestedCommands(input.globals),
		onInterrupt: () => leave(exitCode.interrupted),
		onLeave: () => leave(exitCode.done),
		onFailure: (error) => {
			failure = `the screen failed (${error.message}): --ui=plain shows lines`;
			leave(exitCode.error);
		},
	});
	// Whoever ends the process otherwise, or takes its terminal away, leaves it as it was.
	const stopListening = interrupts.onLeave(() => screen.close());
	const onHangup = (): void => interrupts.interrupt(exitCode.terminated);
	process.on("SIGHUP", onHangup);
	return {
		see(changes) {
			problems = changes.members.flatMap(({ name, problem: why }) => (why === undefined ? [] : [`${name}: ${why}`]));
			screen.see(changes);
		},
		seeHistories: (histories) => screen.seeHistories(histories),
		left: left.signal,
		get code() {
			return code;
		},
		close() {
			if (isClosed) return;
			isClosed = true;
			screen.close();
			stopListening();
			process.off("SIGHUP", onHangup);
			for (const line of failure === undefined ? problems : [failure]) streams.stderr.write(`error: ${line}\n`);
		},
	};
}
