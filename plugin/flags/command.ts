// Defines a command as data: its help, its flags, and where its code is. The code is loaded only when the command runs.
import type { ExitCode } from "../terminal/exit.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import type { Streams } from "../terminal/streams.ts";
import type { FlagTable } from "./flag.ts";
import type { GlobalFlags } from "./global-flags.ts";

export interface CommandInput {
	readonly words: readonly string[];
	/** Parsed values by flag name. Every flag of the command that has a default is included. */
	readonly flags: Readonly<Record<string, unknown>>;
	/** Names of the flags that were typed. */
	readonly given: ReadonlySet<string>;
	readonly globals: GlobalFlags;
	/** The arguments as typed, for reports, for errors, and for a command that continues the run. */
	readonly argv: readonly string[];
}

export interface CommandDependencies {
	readonly streams: Streams;
	readonly env: NodeJS.ProcessEnv;
	readonly interrupts: Interrupts;
	/** If left out, no screen can be drawn. */
	readonly terminal?: ScreenTerminal;
	/** Starts this program again with these arguments, without output. Neither this process nor the shell waits for it. */
	readonly runBeside?: (argv: readonly string[]) => Promise<void>;
}

export type CommandRunner = (input: CommandInput, deps: CommandDependencies) => Promise<ExitCode>;

export interface Command {
	readonly name: string;
	/** The words after the name in the usage line. "" if the command takes none. Completion finds out from it what to offer. */
	readonly words: string;
	readonly describe: string;
	readonly examples: readonly (readonly [comment: string, line: string])[];
	readonly flags: FlagTable;
	readonly load: () => Promise<CommandRunner>;
}

export function textFlag(input: CommandInput, name: string): string {
	const value = input.flags[name];
	return typeof value === "string" ? value : "";
}

export function numberFlag(input: CommandInput, name: string): number {
	const value = input.flags[name];
	return typeof value === "number" ? value : 0;
}

export function booleanFlag(input: CommandInput, name: string): boolean {
	return input.flags[name] === true;
}

export function listFlag(input: CommandInput, name: string): readonly string[] {
	const value = input.flags[name];
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

const noTimeoutMs = 86_400_000;

/** The time limit in milliseconds. One day if the flag is 0, which means no limit. */
export function timeoutFlag(input: CommandInput): number {
	return numberFlag(input, "timeout") || noTimeoutMs;
}
