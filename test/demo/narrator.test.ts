import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { Narrator } from "../../demo/narrator.ts";

function narrate(columns: number | undefined): { readonly narrator: Narrator; readonly lines: () => string[] } {
	const stream = new PassThrough();
	const narrator = new Narrator(Object.assign(stream, { columns }) as unknown as NodeJS.WriteStream, () => undefined);
	return { narrator, lines: () => String(stream.read() ?? "").split("\n") };
}

const sentence = "All six replicas are healthy. Their budget: at most one may be down, in all clusters together.";

describe("Narrator", () => {
	for (const columns of [20, 40, 80]) {
		test(`fits sentences into ${columns} columns, and loses no word`, () => {
			const { narrator, lines } = narrate(columns);
			narrator.heading(sentence);
			narrator.say(sentence);
			narrator.aside(sentence, true);
			const told = lines();
			expect(Math.max(...told.map((line) => line.length))).toBeLessThanOrEqual(columns);
			expect(told.join(" ").split(/\s+/).join(" ").trim()).toBe([sentence, sentence, sentence].join(" "));
		});
	}

	test("keeps a sentence on one line in a pipe", () => {
		const { narrator, lines } = narrate(undefined);
		narrator.say(sentence.repeat(3));
		expect(lines()[0]?.trim()).toBe(sentence.repeat(3));
	});

	test("breaks no command", () => {
		const { narrator, lines } = narrate(40);
		narrator.command(sentence);
		expect(lines()[0]?.trim()).toBe(sentence);
	});

	test("is quiet when nobody reads any more, and says so once", () => {
		const stream = new PassThrough();
		let closed = 0;
		const narrator = new Narrator(stream as unknown as NodeJS.WriteStream, () => closed++);
		stream.emit("error", new Error("write EPIPE"));
		stream.emit("error", new Error("write EPIPE"));
		narrator.say(sentence);
		expect(closed).toBe(1);
		expect(stream.read()).toBeNull();
	});
});
