// The terminal itself, for screens: everything else writes through Streams.
import type { TerminalTurns } from "./terminal-turns.ts";

/** On less of it a screen says nothing any more. */
export const smallestScreen = { columns: 60, rows: 15 } as const;

export interface ScreenTerminal {
	readonly stdin: NodeJS.ReadStream;
	readonly stdout: NodeJS.WriteStream;
	/** Where a screen is drawn while results go into a file. */
	readonly stderr: NodeJS.WriteStream;
	/** Not a pipe: whoever reads that may write to the terminal too. */
	readonly isOutputFile: boolean;
	readonly turns: TerminalTurns;
	/** Lines beside the screen would go elsewhere: somebody keeps them. */
	readonly isErrorTerminal: boolean;
}
