// Defines where a command reads and writes. Streams are arguments and not globals, so that a test can run a whole command.

/** Results go to `stdout`; progress, warnings, errors and questions to `stderr`. */
export interface Streams {
	readonly stdout: TextSink;
	readonly stderr: TextSink;
	readonly stdin: TextSource;
}

export interface TextSink {
	/** `isDocument`: a line may be of any length, because a program reads it. Without it, very long lines are cut. */
	write(text: string, options?: { readonly isDocument?: boolean }): void;
	/** The width of a terminal. Undefined for a pipe or a file. */
	readonly columns?: number | undefined;
}

export interface TextSource {
	readonly isTerminal: boolean;
	/** One line without its line break. Undefined if the input ends or `signal` aborts. */
	readLine(signal: AbortSignal): Promise<string | undefined>;
}
