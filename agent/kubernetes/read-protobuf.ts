// Reads Kubernetes' protobuf as the objects that its JSON would give, with only the fields that are named (protobuf-fields.ts). A watch in
// protobuf costs the agent half the time of one in JSON, because what is not named is skipped and not parsed.
//
// Guarantee: a named field has the value that JSON would have. Texts that are empty are left out, as in JSON, but an empty value of a label
// is kept. Anything that does not fit throws TypeError: a field with another wire type, or a message that was cut off.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { Field, Fields } from "./protobuf-fields.ts";
import { statusFields } from "./protobuf-fields.ts";

/** Upstream's prefix of an object in protobuf: a runtime.Unknown follows. */
const magic = Buffer.from("k8s\0");

type Message = Record<string, unknown>;

/** Reads one frame of a watch: a metav1.WatchEvent. `fields` are those of the watched kind. Throws TypeError. */
export function readWatchFrame(
	frame: Uint8Array,
	fields: Fields,
): { readonly type: unknown; readonly object: unknown } {
	return readable(() => {
		let type = "";
		let object: unknown;
		eachField(frame, (number, wireType, reader) => {
			if (number === 1) type = textOf(reader, wireType, "type");
			else if (number === 2) object = readProtobufObject(rawOf(bytesOf(reader, wireType, "object"), 1), fields);
			else reader.skip(wireType, number);
		});
		return { type, object };
	});
}

/** Reads an object with upstream's prefix. A Status is read as such, whatever `fields` are. Throws TypeError or an error of the reader. */
export function readProtobufObject(bytes: Uint8Array, fields: Fields): Message {
	if (Buffer.compare(bytes.subarray(0, magic.length), magic) !== 0)
		throw new TypeError("an object has no protobuf prefix");
	const unknown = bytes.subarray(magic.length);
	const typeMeta = readMessage(rawOf(unknown, 1), { 2: { name: "kind", type: "text" } });
	return readMessage(rawOf(unknown, 2), typeMeta["kind"] === "Status" ? statusFields : fields);
}

/** Returns the bytes of this field; none if it is missing. */
function rawOf(message: Uint8Array, wanted: number): Uint8Array {
	let raw: Uint8Array = new Uint8Array();
	eachField(message, (number, wireType, reader) => {
		if (number === wanted) raw = bytesOf(reader, wireType, String(number));
		else reader.skip(wireType, number);
	});
	return raw;
}

export function readMessage(bytes: Uint8Array, fields: Fields): Message {
	const message: Message = {};
	eachField(bytes, (number, wireType, reader) => {
		const field = fields[number];
		if (field) readField(message, field, wireType, reader);
		else reader.skip(wireType, number);
	});
	return message;
}

function readField(message: Message, field: Field, wireType: WireType, reader: BinaryReader): void {
	const { name } = field;
	switch (field.type) {
		case "text": {
			const text = textOf(reader, wireType, name);
			if (text !== "") message[name] = text;
			return;
		}
		case "number":
			expectType(wireType, WireType.Varint, name);
			message[name] = Number(reader.int64());
			return;
		case "bool":
			expectType(wireType, WireType.Varint, name);
			message[name] = reader.bool();
			return;
		case "time": {
			const time = timeOf(bytesOf(reader, wireType, name));
			if (time !== undefined) message[name] = time;
			return;
		}
		case "texts": {
			const { key = "", value = "" } = readEntry(bytesOf(reader, wireType, name));
			const texts = isRecord(message[name]) ? message[name] : {};
			message[name] = texts;
			Object.defineProperty(texts, key, { value, enumerable: true, configurable: true, writable: true });
			return;
		}
		case "message":
			message[name] = readMessage(bytesOf(reader, wireType, name), field.fields);
			return;
		case "messages": {
			const read = readMessage(bytesOf(reader, wireType, name), field.fields);
			const before: unknown = message[name];
			if (Array.isArray(before)) before.push(read);
			else message[name] = [read];
		}
	}
}

function readEntry(bytes: Uint8Array): { readonly key?: string; readonly value?: string } {
	const entry: { key?: string; value?: string } = {};
	eachField(bytes, (number, wireType, reader) => {
		if (number === 1) entry.key = textOf(reader, wireType, "key");
		else if (number === 2) entry.value = textOf(reader, wireType, "value");
		else reader.skip(wireType, number);
	});
	return entry;
}

/**
 * A metav1.Time as JSON has it. Upstream writes a time that is not set as an empty message, and 1970-01-01T00:00:00Z as two zeros. A time
 * that JSON does not have is set, too.
 */
function timeOf(bytes: Uint8Array): string | undefined {
	if (bytes.length === 0) return undefined;
	const { seconds = 0 } = readMessage(bytes, { 1: { name: "seconds", type: "number" } });
	const time = new Date(Number(seconds) * 1_000);
	if (Number.isNaN(time.getTime())) return `${quote(seconds)} seconds after 1970`;
	return time.toISOString().replace(".000Z", "Z");
}

function textOf(reader: BinaryReader, wireType: WireType, name: string): string {
	expectType(wireType, WireType.LengthDelimited, name);
	return reader.string();
}

function bytesOf(reader: BinaryReader, wireType: WireType, name: string): Uint8Array {
	expectType(wireType, WireType.LengthDelimited, name);
	return reader.bytes();
}

function expectType(wireType: WireType, wanted: WireType, name: string): void {
	if (wireType !== wanted) throw new TypeError(`field ${name} has wire type ${wireType}`);
}

function eachField(bytes: Uint8Array, take: (number: number, wireType: WireType, reader: BinaryReader) => void): void {
	const reader = new BinaryReader(bytes);
	while (reader.pos < reader.len) {
		const [number, wireType] = reader.tag();
		take(number, wireType, reader);
		if (reader.pos > reader.len) throw new TypeError("a message was cut off");
	}
}

function readable<T>(read: () => T): T {
	try {
		return read();
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		throw new TypeError(`an event in protobuf cannot be read: ${why}`, { cause: error });
	}
}
