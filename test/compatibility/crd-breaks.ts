// Finds what a change of a CustomResourceDefinition breaks for existing objects and programs. Stored objects must stay valid and keep every
// field.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../disruption/record.ts";

interface Definition {
	readonly metadata: { readonly name: string };
	readonly spec: {
		readonly group: string;
		readonly scope: string;
		readonly names: Readonly<Record<string, unknown>>;
		readonly versions: readonly Version[];
	};
}

interface Version {
	readonly name: string;
	readonly served: boolean;
	readonly storage: boolean;
	readonly subresources?: Readonly<Record<string, unknown>>;
	readonly schema: { readonly openAPIV3Schema: Schema };
}

type Schema = Readonly<Record<string, unknown>>;

/** Keys for human readers, without effect on validation. */
const words = new Set(["description", "title", "example", "externalDocs"]);
const nested = new Set(["properties", "items", "additionalProperties", "required"]);

/**
 * Rules that may be added, but not changed or removed. Since 1.30, Kubernetes accepts stored objects whose invalid field is unchanged.
 * test/kubernetes/budget-rules.e2e.test.ts limits the rules to what agents refuse anyway.
 */
const rules = new Set(["x-kubernetes-validations", "pattern", "maxLength", "enum", "allOf"]);

export function findCrdBreaks(before: Definition, after: Definition): string[] {
	const breaks: string[] = [];
	const same = (what: string, old: unknown, now: unknown): void => {
		if (!isDeepStrictEqual(old, now)) breaks.push(`${what} was ${JSON.stringify(old)}, is ${JSON.stringify(now)}`);
	};
	same("name", before.metadata.name, after.metadata.name);
	same("group", before.spec.group, after.spec.group);
	same("scope", before.spec.scope, after.spec.scope);
	for (const [name, value] of Object.entries(before.spec.names)) {
		const now = after.spec.names[name];
		if (Array.isArray(value) && Array.isArray(now) && value.every((each) => now.includes(each))) continue;
		same(`names.${name}`, value, now);
	}
	for (const old of before.spec.versions) {
		const now = after.spec.versions.find(({ name }) => name === old.name);
		if (now === undefined) {
			breaks.push(`version ${old.name} is gone`);
			continue;
		}
		if (old.served && !now.served) breaks.push(`version ${old.name} is not served any more`);
		if (old.storage && !now.storage) breaks.push(`version ${old.name} is not what is stored any more`);
		same(`subresources of ${old.name}`, old.subresources, { ...now.subresources, ...pick(old, now) });
		compareSchemas(old.schema.openAPIV3Schema, now.schema.openAPIV3Schema, old.name, breaks);
	}
	return breaks;
}

/** Returns new subresources as undefined, which hides them from the comparison: they may be added. */
function pick(old: Version, now: Version): object {
	const kept = Object.keys(now.subresources ?? {}).filter((name) => old.subresources?.[name] === undefined);
	return Object.fromEntries(kept.map((name) => [name, undefined]));
}

function compareSchemas(before: Schema, after: Schema, path: string, breaks: string[]): void {
	for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
		if (words.has(key) || nested.has(key)) continue;
		if (rules.has(key) && before[key] === undefined) continue;
		// A changed limit refuses what was valid. A removed limit admits what older programs refuse to read.
		if (!isDeepStrictEqual(before[key], after[key])) {
			breaks.push(`${path}: ${key} was ${JSON.stringify(before[key])}, is ${JSON.stringify(after[key])}`);
		}
	}
	const required = (schema: Schema): readonly unknown[] =>
		Array.isArray(schema["required"]) ? schema["required"] : [];
	for (const name of required(after)) {
		if (!required(before).includes(name)) breaks.push(`${path}.${String(name)} is required now`);
	}
	const properties = (schema: Schema): Schema => (isRecord(schema["properties"]) ? schema["properties"] : {});
	for (const [name, value] of Object.entries(properties(before))) {
		compareParts(value, properties(after)[name], `${path}.${name}`, breaks);
	}
	for (const key of ["items", "additionalProperties"]) {
		if (before[key] !== undefined || after[key] !== undefined) {
			compareParts(before[key], after[key], `${path}.${key}`, breaks);
		}
	}
}

function compareParts(before: unknown, after: unknown, path: string, breaks: string[]): void {
	if (isRecord(before) && isRecord(after)) compareSchemas(before, after, path, breaks);
	else if (!isDeepStrictEqual(before, after))
		breaks.push(after === undefined ? `${path} is gone` : `${path} is another`);
}
