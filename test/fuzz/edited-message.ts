// Messages as they may come off the wire: fields changed, then bytes, then whatever the decoder makes of them.
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

/** Undefined where the edits make no message that could be sent. */
export function editedBytes({ codec, seeds }: SeedMessages, { seed, fields, bytes }: MessageEdits): Buffer | undefined {
	const json = applyEdits(JSON.parse(jsonOf(seeds[seed % seeds.length] ?? null)) as Json, fields);
	let encoded: Uint8Array;
	try {
		encoded = codec.encode(codec.fromJSON(json)).finish();
	} catch {
		return undefined;
	}
	// Where a text was wanted, protobuf's JSON reader takes this for one: nobody sends it.
	if (Buffer.from(encoded).includes("[object ")) return undefined;
	return applyByteEdits(encoded, bytes);
}

/** Undefined where the decoder gives up: grpc-js says that to the caller, and nobody of ours hears of it. */
export function decoded(codec: Codec, bytes: Buffer): unknown {
	try {
		return codec.decode(bytes);
	} catch {
		return undefined;
	}
}
