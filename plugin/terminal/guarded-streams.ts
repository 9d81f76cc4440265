// Guards all text that is written to the terminal, except for the screens (ui/styled-line.ts). A writer does not need to know where its
// text comes from. These streams escape every character that could control the terminal or hide in a line, and cut lines that would fill
// the screen.
//
// Text is guarded here and not where it comes in, because it comes from hundreds of places: every answer of every API server and agent, and
// every object. Lengths are also bounded where messages are made (disruption/bounded-error.ts), because a useful line needs both the
// beginning and the end of a message. The limit here is for all other text. JSON stays valid: its characters are escaped as in JSON, events
// are made to fit (output/fit-line.ts), and lines of documents are not cut (output/read-format.ts).
import { printable } from "../../disruption/printable.ts";
import type { Streams, TextSink } from "./streams.ts";

/** In UTF-16 units. It is that high because kubectl writes the errors of a node with hundreds of pods as one line. */
export const longestLine = 65_536;

export function guardStreams(streams: Streams): Streams {
	return { stdin: streams.stdin, stdout: guardSink(streams.stdout), stderr: guardSink(streams.stderr) };
}

export function guardSink(sink: TextSink): TextSink {
	return {
		write(text, options) {
			const harmless = printable(text);
			sink.write(options?.isDocument === true ? harmless : boundLines(harmless));
		},
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
