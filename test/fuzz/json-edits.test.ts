import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyEdits, edited, type JsonEdit, jsonOf } from "./json-edits.ts";
import { oddValue, tooDeep } from "./odd-values.ts";
import { applyByteEdits, byteEdits, chunked, chunkPlaces } from "./text-edits.ts";

const edit = (more: Partial<JsonEdit>): JsonEdit => ({ kind: "replace", at: 0, value: null, key: "", ...more });

describe("applyEdits()", () => {
	const seed = () => ({ a: { b: [1, 2] }, state: '{"phase":"held"}' });
	const rows: readonly { readonly name: string; readonly edits: readonly JsonEdit[]; readonly expected: unknown }[] = [
		{ name: "the whole value", edits: [edit({ value: 7 })], expected: 7 },
		{ name: "one place", edits: [edit({ at: 3, value: "x" })], expected: { ...seed(), a: { b: ["x", 2] } } },
		{ name: "a key away", edits: [edit({ kind: "remove", at: 1 })], expected: { state: '{"phase":"held"}' } },
		{
			name: "a key's name",
			edits: [edit({ kind: "rename", at: 2, key: "c" })],
			expected: { ...seed(), a: { c: [1, 2] } },
		},
		{ name: "an item twice", edits: [edit({ kind: "repeat", at: 3 })], expected: { ...seed(), a: { b: [1, 1, 2] } } },
		{ name: "inside of a text", edits: [edit({ at: 6, value: 1 })], expected: { ...seed(), state: '{"phase":1}' } },
	];
	for (const { name, edits, expected } of rows) {
		test(`changes ${name}`, () => {
			expect(applyEdits(seed(), edits)).toEqual(expected);
		});
	}

	test("gives the same for the same seed, and leaves the values that it puts in as they are", () => {
		const seeds = [{ a: [1, { b: "c" }], text: '{"d":[1]}' }];
		const sample = () => fc.sample(edited(seeds), { seed: 7, numRuns: 2_000 }).map(jsonOf);
		const values = () => fc.sample(oddValue, { seed: 7, numRuns: 500 }).map(jsonOf);
		const before = values();
		expect(sample()).toEqual(sample());
		expect(values()).toEqual(before);
	});

	test("writes what is too deep for JSON.stringify", () => {
		expect(jsonOf({ a: tooDeep })).toMatch(/^\{"a":\[{20000}\]{20000}\}$/);
	});
});

test("chunks are the bytes that were cut", () => {
	fc.assert(
		fc.property(fc.uint8Array({ maxLength: 60 }), byteEdits, chunkPlaces, (seed, edits, places) => {
			const bytes = applyByteEdits(seed, edits);
			expect(Buffer.concat(chunked(bytes, places))).toEqual(bytes);
		}),
	);
});
