// Decides whether a watch has a screen, opens it, and restores the terminal however the process ends.
import type { CommandDependencies, CommandInput } from "../flags/command.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import type * as Screens from "../ui/screens.ts";
import { hasUnicode, readUiChoice, screenProblem, wantsColour } from "./ui-choice.ts";

export interface ScreenOfWatchOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	readonly hasUnicode: boolean;
	readonly wallClock: () => number;
	readonly onInterrupt: () => void;
	readonly onLeave: () => void;
	readonly onFailure: (error: Error) => void;
}

export interface ScreenOfWatch<Screen> {
	readonly screen: Screen;
	readonly left: AbortSignal;
	readonly code: ExitCode;
	/** Restores the terminal. Writes `problems` to stderr, unless the screen itself has failed. */
	close(problems: readonly string[]): void;
}

export async function screenOfWatch<Screen extends { close(): void }>(
	input: CommandInput,
	{ terminal, env, streams, interrupts }: CommandDependencies,
	open: (screens: typeof Screens, options: ScreenOfWatchOptions) => Screen,
): Promise<ScreenOfWatch<Screen> | undefined> {
	const choice = readUiChoice(input, env);
	if (choice === "plain" || choice === "none") return undefined;
	if (choice === "auto" && input.globals.verbosity > 0) return undefined;
	const problem = screenProblem(terminal, env);
	if (problem !== undefined || !terminal) {
		if (choice === "full" && input.given.has("ui")) streams.stderr.write(`Warning: no full screen: ${problem}\n`);
		return undefined;
	}
	const screens = await import("../ui/screens.ts");
	const left = new AbortController();
	let code: ExitCode = exitCode.done;
	let isClosed = false;
	let failure: string | undefined;
	const leave = (why: ExitCode): void => {
		code = why;
		left.abort(new Error("left"));
	};
	const screen = open(screens, {
		terminal,
		hasColour: wantsColour(env),
		hasUnicode: hasUnicode(env, process.platform),
		wallClock: () => Date.now(),
		onInterrupt: () => leave(exitCode.interrupted),
		onLeave: () => leave(exitCode.done),
		onFailure: (error) => {
			failure = `the screen failed (${error.message}): --ui=plain shows lines`;
			leave(exitCode.error);
		},
	});
	// Restores the terminal if the process ends in another way, or if its terminal is closed.
	const stopListening = interrupts.onLeave(() => screen.close());
	const onHangup = (): void => interrupts.interrupt(exitCode.terminated);
	process.on("SIGHUP", onHangup);
	return {
		screen,
		left: left.signal,
		get code() {
			return code;
		},
		close(problems) {
			if (isClosed) return;
			isClosed = true;
			screen.close();
			stopListening();
			process.off("SIGHUP", onHangup);
			for (const line of failure === undefined ? problems : [failure]) streams.stderr.write(`error: ${line}\n`);
		},
	};
}

/** Resolves soon after the user has left, without waiting for agents' answers. */
export async function leftFor(screen: Pick<ScreenOfWatch<unknown>, "left" | "code">): Promise<ExitCode> {
	await new Promise<void>((resolve) => {
		screen.left.addEventListener("abort", () => setTimeout(resolve, closingMs).unref());
	});
	return screen.code;
}

const closingMs = 200;
