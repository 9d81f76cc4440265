import { describe, expect, test } from "vitest";
import { confirm } from "../../../plugin/terminal/confirm.ts";
import { collectStreams } from "../../support/collected-streams.ts";

const signal = new AbortController().signal;
const question = { summary: ["Drain 2 nodes in 2 contexts:"], contexts: 2, assumeYes: false, signal };

describe("confirm()", () => {
	const rows: readonly { readonly answer: string; readonly expected: boolean }[] = [
		{ answer: "y", expected: true },
		{ answer: " YES ", expected: true },
		{ answer: "", expected: false },
		{ answer: "n", expected: false },
		{ answer: "yup", expected: false },
	];
	for (const { answer, expected } of rows) {
		test(`"${answer}" is a ${expected ? "yes" : "no"}`, async () => {
			const streams = collectStreams([answer]);
			expect(await confirm(question, streams)).toBe(expected);
			expect(streams.lines()).toEqual(["err: Drain 2 nodes in 2 contexts:", "err: Continue? [y/N] "]);
		});
	}

	test("one context needs no question", async () => {
		const streams = collectStreams();
		expect(await confirm({ ...question, contexts: 1 }, streams)).toBe(true);
		expect(streams.lines()).toEqual([]);
	});

	test("-y needs no terminal", async () => {
		expect(await confirm({ ...question, assumeYes: true }, collectStreams())).toBe(true);
	});

	test("no terminal and no -y is an error", async () => {
		await expect(confirm(question, collectStreams())).rejects.toMatchObject({
			name: "UsageError",
			hint: "Use -y to confirm",
		});
	});

	test("the end of the input is a no", async () => {
		expect(await confirm(question, collectStreams([]))).toBe(false);
	});
});
