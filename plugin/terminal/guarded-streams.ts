// The one place where all bytes leave for the terminal. Whoever writes need not know whose text it is: nothing gets past these streams
// that could steer the terminal, hide in a line or fill the screen with one line.
//
// Why here, and not where the texts come in: there are hundreds of such places (every answer of every API server and agent, every
// object), new ones with every command, and a test can only show that a known one is guarded. Lengths are bounded where messages
// are made too (disruption/bounded-error.ts), because a good line needs the end of a message as well as its beginning; what is bounded
// here is what came another way. JSON goes through unharmed: characters are escaped as JSON does, and its lines are shorter
// (output/fit-line.ts, output/read-format.ts).
import { printable } from "../../disruption/printable.ts";
import type { Streams, TextSink } from "./streams.ts";

/** 64 KiB: the errors of a node with hundreds of pods are one line of kubectl's. */
export const longestLine = 65_536;

export function guardStreams(streams: Streams): Streams {
	return { stdin: streams.stdin, stdout: guardSink(streams.stdout), stderr: guardSink(streams.stderr) };
}

export function guardSink(sink: TextSink): TextSink {
	return {
		write: (text) => sink.write(boundLines(printable(text))),
		get columns() {
			return sink.columns;
		},
	};
}

function boundLines(text: string): string {
	if (text.length <= longestLine) return text;
	return text
		.split("\n")
		.map((line) => (line.length <= longestLine ? line : cut(line)))
		.join("\n");
}

function cut(line: string): string {
	return `${line.slice(0, longestLine).toWellFormed()}… (${line.length - longestLine} more characters)`;
}
