// Edits a few places of texts and bytes. Edits are data, so a failing input shrinks to the one edit that matters.
import fc from "fast-check";
import { oddText } from "./odd-values.ts";

interface TextEdit {
	readonly kind: "splice" | "cut" | "repeat";
	readonly at: number;
	readonly length: number;
	readonly text: string;
}

/** Generates a seed with up to four edits. `words` are words of the format. */
export function editedText(seeds: readonly string[], words: readonly string[] = []): fc.Arbitrary<string> {
	const text = words.length === 0 ? oddText : fc.oneof(fc.constantFrom(...words), fc.constantFrom(...words), oddText);
	const edit: fc.Arbitrary<TextEdit> = fc.record({
		kind: fc.constantFrom("splice", "splice", "splice", "splice", "cut", "repeat"),
		at: fc.nat(99_999),
		length: fc.oneof(fc.constant(0), fc.nat(4), fc.nat(60)),
		text,
	});
	return fc
		.tuple(fc.nat(seeds.length - 1), fc.array(edit, { maxLength: 4 }))
		.map(([index, edits]) => edits.reduce(applyTextEdit, seeds[index] ?? ""));
}

function applyTextEdit(text: string, { kind, at, length, text: insert }: TextEdit): string {
	const start = at % (text.length + 1);
	switch (kind) {
		case "splice":
			return text.slice(0, start) + insert + text.slice(start + length);
		case "cut":
			return text.slice(0, start);
		case "repeat":
			return text.slice(0, start) + text.slice(start, start + length).repeat(3) + text.slice(start);
	}
}

interface ByteEdit {
	readonly at: number;
	readonly drop: number;
	readonly insert: Uint8Array;
	readonly flip: number;
	readonly cut: boolean;
}

const byteEdit: fc.Arbitrary<ByteEdit> = fc.record({
	at: fc.nat(99_999),
	drop: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(6)),
	insert: fc.oneof(
		fc.constant(new Uint8Array()),
		fc.uint8Array({ maxLength: 6 }),
		// Long varints, lengths beyond the end, and invalid UTF-8.
		fc.constantFrom(
			Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f),
			Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
			Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01),
			Uint8Array.of(0xed, 0xa0, 0x80),
			Uint8Array.of(0xc3, 0x28),
		),
	),
	flip: fc.oneof(fc.constant(0), fc.nat(255)),
	cut: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

export const byteEdits: fc.Arbitrary<readonly ByteEdit[]> = fc.array(byteEdit, { maxLength: 4 });

export function applyByteEdits(seed: Uint8Array, edits: readonly ByteEdit[]): Buffer {
	let bytes = Buffer.from(seed);
	for (const { at, drop, insert, flip, cut } of edits) {
		const start = at % (bytes.length + 1);
		const rest = cut ? [] : [bytes.subarray(start + drop)];
		bytes = Buffer.concat([bytes.subarray(0, start), insert, ...rest]);
		if (start < bytes.length) bytes[start] = (bytes[start] ?? 0) ^ flip;
	}
	return bytes;
}

/** Without places, there is one chunk. */
export function chunked(bytes: Buffer, places: readonly number[]): Buffer[] {
	const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
	const chunks: Buffer[] = [];
	let from = 0;
	for (const cut of [...cuts, bytes.length]) {
		if (cut > from) chunks.push(bytes.subarray(from, cut));
		from = cut;
	}
	return chunks;
}

export const chunkPlaces: fc.Arbitrary<readonly number[]> = fc.array(fc.nat(99_999), { maxLength: 6 });
