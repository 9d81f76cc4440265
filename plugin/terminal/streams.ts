// Defines where a command reads and writes. Streams are arguments and not globals, so that a test can run a whole command.

/** Results go to `stdout`; progress, warnings, errors and questions to `stderr`. */
export interface Streams {
	readonly stdout: TextSink;
	readonly stderr: TextSink;
	readonly stdin: TextSource;
}

export interface TextSink {
	write(text: string): void;
	/** The width of a terminal. Undefined for a pipe or a file. */
	readonly columns?: number | undefined;
}

export interface TextSource {
	readonly isTerminal: boolean;
	/** One line without its line break. Undefined if the input ends or `signal` aborts. */
	readLine(signal: AbortSignal): Promise<string | undefined>;
}
