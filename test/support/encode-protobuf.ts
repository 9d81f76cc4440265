// Encodes objects as Kubernetes' protobuf, for tests: the named fields of a message, and frames of a watch.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Field, Fields } from "../../agent/kubernetes/protobuf-fields.ts";

type Value = Readonly<Record<string, unknown>>;

export function encodeMessage(object: Value, fields: Fields): Uint8Array {
	const writer = new BinaryWriter();
	// Fields that are not named come between the others.
	writer.tag(99, WireType.LengthDelimited).string("ignored");
	writer.tag(98, WireType.Varint).int64(7);
	for (const [number, field] of Object.entries(fields)) {
		const value = object[field.name];
		if (value !== undefined) encodeField(writer, Number(number), field, value);
		else if (field.type === "text") writer.tag(Number(number), WireType.LengthDelimited).string("");
		else if (field.type === "time") writer.tag(Number(number), WireType.LengthDelimited).bytes(new Uint8Array());
	}
	return writer.finish();
}

function encodeField(writer: BinaryWriter, number: number, field: Field, value: unknown): void {
	const bytes = (part: Uint8Array): unknown => writer.tag(number, WireType.LengthDelimited).bytes(part);
	switch (field.type) {
		case "text":
			writer.tag(number, WireType.LengthDelimited).string(value as string);
			return;
		case "number":
			writer.tag(number, WireType.Varint).int64(value as number);
			return;
		case "bool":
			writer.tag(number, WireType.Varint).bool(value as boolean);
			return;
		case "time":
			bytes(
				new BinaryWriter()
					.tag(1, WireType.Varint)
					.int64(Date.parse(value as string) / 1_000)
					.tag(2, WireType.Varint)
					.int32(0)
					.finish(),
			);
			return;
		case "texts":
			for (const [key, text] of Object.entries(value as Record<string, string>)) {
				const entry = new BinaryWriter().tag(1, WireType.LengthDelimited).string(key);
				bytes(entry.tag(2, WireType.LengthDelimited).string(text).finish());
			}
			return;
		case "message":
			bytes(encodeMessage(value as Value, field.fields));
			return;
		case "messages":
			for (const each of value as readonly Value[]) bytes(encodeMessage(each, field.fields));
	}
}

/** An object with upstream's prefix and runtime.Unknown. */
export function encodeObject(kind: string, object: Value, fields: Fields): Uint8Array {
	const typeMeta = new BinaryWriter().tag(1, WireType.LengthDelimited).string("v1");
	const unknown = new BinaryWriter()
		.tag(1, WireType.LengthDelimited)
		.bytes(typeMeta.tag(2, WireType.LengthDelimited).string(kind).finish())
		.tag(2, WireType.LengthDelimited)
		.bytes(encodeMessage(object, fields))
		.tag(3, WireType.LengthDelimited)
		.string("");
	return Buffer.concat([Buffer.from("k8s\0"), unknown.finish()]);
}

/** A metav1.WatchEvent, without its length. */
export function encodeEvent(type: string, object: Uint8Array): Uint8Array {
	const extension = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(object).finish();
	const event = new BinaryWriter().tag(1, WireType.LengthDelimited).string(type);
	return event.tag(2, WireType.LengthDelimited).bytes(extension).finish();
}

export function framed(frame: Uint8Array): Buffer {
	const head = Buffer.alloc(4);
	head.writeUInt32BE(frame.length);
	return Buffer.concat([head, frame]);
}
