// Generates the tables of docs/json.md: the keys of -o json from the published schemas, and a recorded example of each event.
import { readSource } from "../architecture/source-files.ts";
import { readSchema } from "../support/json-schema.ts";
import type { GeneratedParts } from "./generated-parts.ts";
import { code, codeBlock, table } from "./markdown-text.ts";

/** The parts of JSON Schema that our schemas use. */
interface Schema {
	readonly $ref?: string;
	readonly $defs?: Readonly<Record<string, Schema>>;
	readonly type?: string | readonly string[];
	readonly const?: unknown;
	readonly enum?: readonly unknown[];
	readonly description?: string;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	readonly items?: Schema;
	readonly additionalProperties?: Schema;
	readonly oneOf?: readonly Schema[];
}

type Definitions = Readonly<Record<string, Schema>>;

export function jsonTables(): GeneratedParts {
	const { $defs = {}, oneOf = [] } = readSchema("events-v1") as Schema;
	const types = oneOf.map(({ $ref = "" }) => nameOf($ref)).filter((type) => type !== "later");
	return {
		events: types.map((type) => eventSection(type, $defs)).join("\n\n"),
		...Object.fromEntries(
			["plan", "budgets", "explain", "leases", "operations", "version", "check", "fleet"].map((name) => [
				name,
				keyTable(readSchema(`${name}-v1`) as Schema, {}),
			]),
		),
	};
}

function eventSection(type: string, defs: Definitions): string {
	const schema = defs[type] ?? {};
	const parts = [
		schema.description && `${schema.description}.`,
		keyTable(schema, defs),
		codeBlock("json", example(type)),
	];
	return [`### ${type}`, ...parts.filter((part) => part)].join("\n\n");
}

/** Returns the recorded line of this type with the most keys. */
function example(type: string): string {
	const lines = readSource("test/plugin/output/golden/events.ndjson").trim().split("\n");
	const keys = (line: string): number => Object.keys(JSON.parse(line) as object).length;
	const [line] = lines
		.filter((each) => (JSON.parse(each) as { readonly type: string }).type === type)
		.toSorted((a, b) => keys(b) - keys(a));
	if (line === undefined) throw new Error(`There is no line of type ${type} among the published ones`);
	return line;
}

function keyTable(schema: Schema, defs: Definitions): string {
	return table(["Key", "Value", "What it is"], keyRows(schema, { defs, path: "" }));
}

function keyRows(
	schema: Schema,
	{ defs, path }: { readonly defs: Definitions; readonly path: string },
): readonly (readonly string[])[] {
	return Object.entries(schema.properties ?? {})
		.filter(([key]) => path !== "" || key !== "type")
		.flatMap(([key, property]) => {
			const value = resolve(property, defs);
			const here = `${path}${key}`;
			const needed = schema.required?.includes(key) === true;
			const row = [code(here), `${valueText(property, defs)}${needed ? "" : ", if any"}`, descriptionOf(value, defs)];
			const inside = value.items ? resolve(value.items, defs) : value;
			return [row, ...keyRows(inside, { defs, path: `${here}${value.items ? "[]" : ""}.` })];
		});
}

function descriptionOf(schema: Schema, defs: Definitions): string {
	return schema.description ?? (schema.items ? (resolve(schema.items, defs).description ?? "") : "");
}

function valueText(property: Schema, defs: Definitions): string {
	if (nameOf(property.$ref ?? "") === "reason") return "[reason](messages.md)";
	const { const: only, enum: some, type, items, additionalProperties } = resolve(property, defs);
	if (only !== undefined) return code(JSON.stringify(only));
	if (some !== undefined) return some.map((value) => code(JSON.stringify(value))).join(", ");
	if (items) return `list of ${valueText(items, defs)}`;
	if (additionalProperties) return `object of ${valueText(additionalProperties, defs)}`;
	return [type ?? []].flat().join(" or ");
}

function resolve(schema: Schema, defs: Definitions): Schema {
	if (schema.$ref === undefined) return schema;
	const found = defs[nameOf(schema.$ref)];
	if (!found) throw new Error(`There is no ${schema.$ref}`);
	return found;
}

function nameOf(ref: string): string {
	return ref.replace("#/$defs/", "");
}
