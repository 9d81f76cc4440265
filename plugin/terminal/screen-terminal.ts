// The terminal itself, for screens: everything else writes through Streams.

/** On less of it a screen says nothing any more. */
export const smallestScreen = { columns: 60, rows: 15 } as const;

export interface ScreenTerminal {
	readonly stdin: NodeJS.ReadStream;
	readonly stdout: NodeJS.WriteStream;
	/** Lines beside the screen would go elsewhere: somebody keeps them. */
	readonly isErrorTerminal: boolean;
}
