import { describe, expect, test } from "vitest";
import { LineSplitter } from "../../proto/line-splitter.ts";

function linesOf(...chunks: readonly (string | Buffer)[]) {
	const lines: string[] = [];
	const splitter = new LineSplitter((line) => void lines.push(line));
	for (const chunk of chunks) splitter.push(Buffer.from(chunk));
	return { lines, unfinished: splitter.unfinished };
}

describe("LineSplitter", () => {
	const euro = Buffer.from('{"price":"5 €"}\n');
	const inside = euro.indexOf(0x82); // The second of the euro sign's three bytes.
	const rows = [
		{ name: "gives several lines of one chunk", chunks: ["a\nb\nc\n"], lines: ["a", "b", "c"], unfinished: false },
		{
			name: "joins a line that is split over many chunks",
			chunks: ["a", "b", "c", "\n"],
			lines: ["abc"],
			unfinished: false,
		},
		{ name: "keeps what no newline has ended", chunks: ["a\nb"], lines: ["a"], unfinished: true },
		{ name: "takes a newline that comes alone", chunks: ["a", "\n", "b\n"], lines: ["a", "b"], unfinished: false },
		{ name: "gives empty lines", chunks: ["\n\n"], lines: ["", ""], unfinished: false },
		{ name: "takes an empty chunk", chunks: ["a", "", "\n"], lines: ["a"], unfinished: false },
		{
			name: "joins a character that is split between chunks",
			chunks: [euro.subarray(0, inside), euro.subarray(inside)],
			lines: ['{"price":"5 €"}'],
			unfinished: false,
		},
	];
	for (const { name, chunks, lines, unfinished } of rows) {
		test(name, () => expect(linesOf(...chunks)).toEqual({ lines, unfinished }));
	}

	test("gives the same lines wherever the stream is cut", () => {
		const text = Buffer.from('{"a":"ä"}\n{"b":"𝄞"}\n\n{"c":1}\n');
		for (let first = 0; first <= text.length; first++) {
			for (let second = first; second <= text.length; second++) {
				const { lines } = linesOf(text.subarray(0, first), text.subarray(first, second), text.subarray(second));
				expect(lines).toEqual(['{"a":"ä"}', '{"b":"𝄞"}', "", '{"c":1}']);
			}
		}
	});

	test("refuses a line without end", () => {
		const splitter = new LineSplitter(() => undefined);
		const chunk = Buffer.alloc(1024 * 1024, "x");
		expect(() => {
			for (let mebibytes = 0; mebibytes < 20; mebibytes++) splitter.push(chunk);
		}).toThrow(RangeError);
	});
});
