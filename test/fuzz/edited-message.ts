// Makes messages as they may arrive over the wire: first fields are changed, then bytes.
import fc from "fast-check";
import { applyEdits, type JsonEdit, jsonEdits, jsonOf } from "./json-edits.ts";
import type { Json } from "./odd-values.ts";
import type { Codec, SeedMessages } from "./seed-messages.ts";
import { applyByteEdits, byteEdits } from "./text-edits.ts";

export interface MessageEdits {
	readonly seed: number;
	readonly fields: readonly JsonEdit[];
	readonly bytes: Parameters<typeof applyByteEdits>[1];
}

export const messageEdits: fc.Arbitrary<MessageEdits> = fc.record({
	seed: fc.nat(9),
	fields: fc.oneof({ weight: 3, arbitrary: jsonEdits }, { weight: 1, arbitrary: fc.constant([]) }),
	bytes: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: byteEdits }),
});

/** Undefined if no program could send the edited message. */
export function editedBytes({ codec, seeds }: SeedMessages, { seed, fields, bytes }: MessageEdits): Buffer | undefined {
	const json = applyEdits(JSON.parse(jsonOf(seeds[seed % seeds.length] ?? null)) as Json, fields);
	let encoded: Uint8Array;
	try {
		encoded = codec.encode(codec.fromJSON(json)).finish();
	} catch {
		return undefined;
	}
	// protobuf's JSON reader turns an object in the place of a string into this text, which no program would send.
	if (Buffer.from(encoded).includes("[object ")) return undefined;
	return applyByteEdits(encoded, bytes);
}

/** Undefined if decoding fails, which grpc-js reports to the caller without calling our code. */
export function decoded(codec: Codec, bytes: Buffer): unknown {
	try {
		return codec.decode(bytes);
	} catch {
		return undefined;
	}
}
