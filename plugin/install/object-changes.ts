// Compares an object with what it would become, field by field. The status and the metadata that the API server sets are left out. Pure.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../disruption/record.ts";

export interface FieldChange {
	/** For example spec.template.spec.containers[agent].image. */
	readonly path: string;
	/** Undefined if the field does not exist. */
	readonly from: unknown;
	readonly to: unknown;
}

const serversOwn = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"];

export function fieldChanges(now: unknown, then: unknown): readonly FieldChange[] {
	return compare(ownFields(now), ownFields(then), "");
}

/** Unlike fieldChanges(), compares the order of all lists. */
export function isSame(now: unknown, then: unknown): boolean {
	return isDeepStrictEqual(ownFields(now), ownFields(then));
}

function ownFields(value: unknown): unknown {
	if (!isRecord(value)) return value;
	const { status: _, metadata, ...rest } = value;
	const kept = isRecord(metadata)
		? Object.fromEntries(Object.entries(metadata).filter(([field]) => !serversOwn.includes(field)))
		: metadata;
	return { ...rest, metadata: kept };
}

function compare(from: unknown, to: unknown, path: string): readonly FieldChange[] {
	if (isRecord(from) && isRecord(to)) return compareEntries(new Map(Object.entries(from)), to, path);
	const [before, after] = [byName(from), byName(to)];
	if (before && after) return compareEntries(before, Object.fromEntries(after), path);
	return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }];
}

function compareEntries(
	from: ReadonlyMap<string, unknown>,
	to: Readonly<Record<string, unknown>>,
	path: string,
): readonly FieldChange[] {
	const keys = new Set([...from.keys(), ...Object.keys(to)]);
	return [...keys].flatMap((key) => compare(from.get(key), to[key], pathTo(path, key)));
}

function pathTo(path: string, key: string): string {
	if (/^[\w-]+$/.test(key) || key.startsWith("["))
		return path === "" || key.startsWith("[") ? `${path}${key}` : `${path}.${key}`;
	return `${path}[${JSON.stringify(key)}]`;
}

/** Matches list items by name, whatever their order. Undefined unless each item has its own name. */
function byName(value: unknown): ReadonlyMap<string, unknown> | undefined {
	if (!Array.isArray(value) || value.length === 0) return undefined;
	const named = value.map((item: unknown) => [isRecord(item) ? item["name"] : undefined, item] as const);
	if (named.some(([name]) => typeof name !== "string")) return undefined;
	const found = new Map(named.map(([name, item]) => [`[${String(name)}]`, item]));
	return found.size === value.length ? found : undefined;
}
