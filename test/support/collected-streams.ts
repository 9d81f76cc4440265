// Streams that keep everything that is written to them, and record to which stream.
import type { Streams } from "../../plugin/terminal/streams.ts";

export interface CollectedStreams extends Streams {
	/** Lines in their order over both streams: "out: ..." and "err: ...". */
	readonly lines: () => readonly string[];
	readonly out: () => string;
	readonly err: () => string;
}

/** Returns such streams. `answers` are the lines that the user types. Without them, stdin is not a terminal. */
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
