// Where a command reads and writes: arguments, never globals, so that a whole command runs inside a test.

/** Results go to `stdout`; progress, warnings, errors and questions to `stderr`. */
export interface Streams {
	readonly stdout: TextSink;
	readonly stderr: TextSink;
	readonly stdin: TextSource;
}

export interface TextSink {
	write(text: string): void;
	/** How wide a terminal is; undefined for a pipe or a file. */
	readonly columns?: number | undefined;
}

export interface TextSource {
	readonly isTerminal: boolean;
	/** One line without its end, or undefined where the input ends or `signal` aborts. */
	readLine(signal: AbortSignal): Promise<string | undefined>;
}
