// Streams that record everything written to stdout and stderr, in order.
import type { Streams } from "../../plugin/terminal/streams.ts";

export interface CollectedStreams extends Streams {
	/** The lines of both streams in order, as "out: ..." and "err: ...". */
	readonly lines: () => readonly string[];
	readonly out: () => string;
	readonly err: () => string;
}

/** `answers` are the lines that the user types. Without them, stdin is not a terminal. */
export function collectStreams(answers?: readonly string[]): CollectedStreams {
	const written: { readonly to: "out" | "err"; readonly text: string }[] = [];
	const rest = [...(answers ?? [])];
	const join = (to: "out" | "err"): string =>
		written
			.filter((each) => each.to === to)
			.map(({ text }) => text)
			.join("");
	return {
		stdout: { write: (text) => void written.push({ to: "out", text }) },
		stderr: { write: (text) => void written.push({ to: "err", text }) },
		stdin: { isTerminal: answers !== undefined, readLine: async () => rest.shift() },
		lines: () =>
			written.flatMap(({ to, text }) =>
				text
					.replace(/\n$/, "")
					.split("\n")
					.map((line) => `${to}: ${line}`),
			),
		out: () => join("out"),
		err: () => join("err"),
	};
}
