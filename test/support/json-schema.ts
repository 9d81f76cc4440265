// Checks values against a strict form of the published schemas, which refuses unnamed fields. So the schemas describe everything that the
// code writes. The published schemas allow fields of later versions.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

type Schema = Record<string, unknown>;

export function readSchema(name: string): Schema {
	const path = join(import.meta.dirname, "../../plugin/output/schemas", `${name}.json`);
	return JSON.parse(readFileSync(path, "utf8")) as Schema;
}

/** Returns a function that lists a value's problems: none if it matches the schema. */
export function createValidator(schema: Schema): (value: unknown) => readonly string[] {
	const ajv = new Ajv2020({ strict: true, strictRequired: false });
	const whole = ajv.compile(schema);
	return (value: unknown) => {
		const isValid: boolean = whole(value);
		if (isValid) return [];
		// The union reports the problems of all types. Only those of the type that the value names are relevant.
		const type = typeof value === "object" && value !== null && "type" in value ? String(value.type) : "";
		const named = ajv.getSchema(`${String(schema["$id"])}#/$defs/${type}`) ?? whole;
		if (named(value) === true) throw new Error(`${type} is valid, but the union of all types does not take it`);
		return (named.errors ?? []).map(
			({ instancePath, message, params }) =>
				`${instancePath} ${message} ${JSON.stringify(params)}: ${JSON.stringify(value)}`,
		);
	};
}

export function strictSchema(name: string): Schema {
	const schema = readSchema(name);
	const { later: _, ...defs } = (schema["$defs"] ?? {}) as Record<string, Schema>;
	const strict = close({ ...schema, $defs: defs }) as Schema;
	// `line` is part of other definitions, which refuse unknown fields themselves.
	const { line } = strict["$defs"] as Record<string, Schema>;
	if (line) delete line["unevaluatedProperties"];
	const union = strict["oneOf"];
	if (Array.isArray(union)) strict["oneOf"] = union.filter(({ $ref }: Schema) => $ref !== "#/$defs/later");
	return strict;
}

/** Makes each object with named properties refuse other properties. */
function close(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(close);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, child]: [string, unknown]) => [key, close(child)]);
	const isObject = "type" in value && value.type === "object" && "properties" in value;
	return { ...Object.fromEntries(entries), ...(isObject && { unevaluatedProperties: false }) };
}

export function eventProblems(output: string): readonly string[] {
	const validate = createValidator(strictSchema("events-v1"));
	if (!output.endsWith("\n")) return ["the output does not end with a whole line"];
	const lines = output.slice(0, -1).split("\n");
	const events = lines.map((line) => JSON.parse(line) as { readonly type: string; readonly seq: number });
	const problems = events.flatMap((event) => validate(event));
	if (events[0]?.type !== "version") problems.push(`the first line is ${events[0]?.type}`);
	if (events.at(-1)?.type !== "summary") problems.push(`the last line is ${events.at(-1)?.type}`);
	if (events.filter(({ type }) => type === "summary").length !== 1) problems.push("there is not one summary");
	if (events.some(({ seq }, index) => seq !== index))
		problems.push(`seq has gaps: ${events.map(({ seq }) => seq).join(" ")}`);
	if (lines.some((line) => Buffer.byteLength(line) >= 65_535)) problems.push("a line is too long");
	return problems;
}
