// Gives screens the terminal itself. All other output goes through Streams.
import type { TerminalTurns } from "./terminal-turns.ts";

/** A smaller terminal cannot show a useful screen. */
export const smallestScreen = { columns: 60, rows: 15 } as const;

export interface ScreenTerminal {
	readonly stdin: NodeJS.ReadStream;
	readonly stdout: NodeJS.WriteStream;
	/** Screens are drawn here if results go into a file. */
	readonly stderr: NodeJS.WriteStream;
	/** Whether `stdout` is a file. A pipe does not count, because its reader may write to the terminal too. */
	readonly isOutputFile: boolean;
	readonly turns: TerminalTurns;
	/** Whether stderr is a terminal. If it is not, lines beside the screen go elsewhere, such as into a file. */
	readonly isErrorTerminal: boolean;
}
