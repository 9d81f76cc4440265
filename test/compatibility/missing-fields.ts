// Makes messages without one of their fields, as older programs write them.
import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

export interface WithoutField {
	/** For example "count.candidates.present.healthy". */
	readonly path: string;
	/** The names that a refusal may use: that of the field or of its oneof. */
	readonly names: readonly string[];
	readonly json: JsonObject;
}

export function* withoutEachField(message: DescMessage, json: JsonObject, above = ""): Generator<WithoutField> {
	for (const field of message.fields) {
		const value = json[field.jsonName];
		if (value === undefined) continue;
		const path = `${above}${field.name}`;
		const { [field.jsonName]: _, ...others } = json;
		yield { path, names: [field.name, ...(field.oneof ? [field.oneof.name] : [])], json: others };
		if (field.message === undefined || field.fieldKind === "map") continue;
		const parts: readonly JsonValue[] = Array.isArray(value) ? value : [value];
		for (const [index, part] of parts.entries()) {
			for (const inner of withoutEachField(field.message, part as JsonObject, `${path}.`)) {
				const replaced = parts.map((each, at) => (at === index ? inner.json : each));
				yield { ...inner, json: { ...json, [field.jsonName]: Array.isArray(value) ? replaced : inner.json } };
			}
		}
	}
}

/** Yields "MESSAGE.FIELD" for each field that this sample sets, also in nested messages, but not in maps. */
export function* saidFields(message: DescMessage, json: JsonObject): Generator<string> {
	for (const field of message.fields) {
		const value = json[field.jsonName];
		if (value === undefined) continue;
		yield `${message.name}.${field.name}`;
		if (field.message === undefined || field.fieldKind === "map") continue;
		const parts: readonly JsonValue[] = Array.isArray(value) ? value : [value];
		for (const part of parts) yield* saidFields(field.message, part as JsonObject);
	}
}
