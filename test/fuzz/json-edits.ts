// Edits a few places of an object. Edits are data, so a failing input shrinks to the one edit that matters.
import fc from "fast-check";
import { type Json, oddText, oddValue, tooDeep } from "./odd-values.ts";

const deepMark = "@too deep@";

export interface JsonEdit {
	readonly kind: "replace" | "remove" | "rename" | "repeat" | "insert" | "wrap" | "move";
	/** Chooses the place, modulo the number of places. */
	readonly at: number;
	readonly value: Json;
	readonly key: string;
}

const edit: fc.Arbitrary<JsonEdit> = fc.record({
	kind: fc.constantFrom(
		"replace",
		"replace",
		"replace",
		"remove",
		"remove",
		"rename",
		"repeat",
		"insert",
		"wrap",
		"move",
	),
	at: fc.nat(9_999),
	value: oddValue,
	key: oddText,
});

export const jsonEdits: fc.Arbitrary<readonly JsonEdit[]> = fc.array(edit, { minLength: 1, maxLength: 3 });

export function edited(seeds: readonly Json[]): fc.Arbitrary<Json> {
	const copies = seeds.map((seed) => JSON.stringify(seed));
	return fc
		.tuple(fc.nat(seeds.length - 1), jsonEdits)
		.map(([index, edits]) => applyEdits(JSON.parse(copies[index] ?? "null") as Json, edits));
}

/** Returns an edited copy of `value`. A string that is a JSON object is edited inside. */
export function applyEdits(value: Json, edits: readonly JsonEdit[]): Json {
	const root: Holder = { value: unpacked(value) };
	for (const one of edits) applyEdit(root, one);
	return packed(root["value"] ?? null);
}

type Mutable = { [key: string]: unknown };
type Holder = Mutable;

/** A place: a key of an object or an index of a list. */
export interface Slot {
	readonly holder: Mutable | unknown[];
	readonly key: string;
}

/** A string that is a JSON object. */
class Embedded {
	value: unknown;
	constructor(value: unknown) {
		this.value = value;
	}
}

function applyEdit(root: Holder, { kind, at, value, key }: JsonEdit): void {
	const slots = slotsOf(root);
	const slot = slots[at % slots.length];
	if (!slot) return;
	const { holder } = slot;
	const here = read(slot);
	switch (kind) {
		case "replace":
			write(slot, copyOf(value));
			break;
		case "remove":
			if (Array.isArray(holder)) holder.splice(Number(slot.key), 1);
			else if (holder !== root) delete holder[slot.key];
			break;
		case "rename":
			if (Array.isArray(holder) || holder === root) break;
			delete holder[slot.key];
			write({ holder, key }, here);
			break;
		case "repeat":
			if (Array.isArray(holder)) holder.splice(Number(slot.key), 0, copyOf(here));
			break;
		case "insert":
			if (here === tooDeep) break;
			if (Array.isArray(here)) here.push(copyOf(value));
			else if (isObject(here)) write({ holder: here, key }, copyOf(value));
			break;
		case "wrap":
			write(slot, [here]);
			break;
		case "move": {
			const other = slots[(at * 7 + 3) % slots.length];
			if (other) write(slot, copyOf(read(other)));
		}
	}
}

/** Returns the places below the holder, down to 60 levels, each before the places inside it. */
export function slotsOf(holder: Mutable): Slot[] {
	const slots: Slot[] = [];
	const visit = (value: unknown, depth: number): void => {
		if (depth > 60 || value === tooDeep) return;
		if (value instanceof Embedded) return visit(value.value, depth + 1);
		if (Array.isArray(value)) {
			value.forEach((item, index) => {
				slots.push({ holder: value as unknown[], key: String(index) });
				visit(item, depth + 1);
			});
		} else if (isObject(value)) {
			for (const key of Object.keys(value)) {
				slots.push({ holder: value, key });
				visit(value[key], depth + 1);
			}
		}
	};
	visit(holder, 0);
	return slots;
}

export function read({ holder, key }: Slot): unknown {
	return Array.isArray(holder) ? holder[Number(key)] : holder[key];
}

export function write({ holder, key }: Slot, value: unknown): void {
	if (Array.isArray(holder)) holder[Number(key)] = value;
	else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true });
}

export function unpacked(value: unknown): unknown {
	if (typeof value === "string" && value.startsWith("{")) {
		try {
			return new Embedded(JSON.parse(value));
		} catch {
			return value;
		}
	}
	if (value === tooDeep || !isTree(value)) return value;
	if (Array.isArray(value)) return value.map(unpacked);
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpacked(item)]));
}

export function packed(value: unknown): Json {
	if (value instanceof Embedded) return jsonOf(packed(value.value));
	if (value === tooDeep || !isTree(value)) return value as Json;
	if (Array.isArray(value)) return value.map(packed);
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, packed(item)]));
}

/** Works like JSON.stringify, but also writes `tooDeep`, which has too many levels for it. */
export function jsonOf(value: Json): string {
	return JSON.stringify(value, (_key, item: unknown) => (item === tooDeep ? deepMark : item)).replaceAll(
		`"${deepMark}"`,
		"[".repeat(20_000) + "]".repeat(20_000),
	);
}

function copyOf(value: unknown): unknown {
	if (value instanceof Embedded) return new Embedded(copyOf(value.value));
	if (value === tooDeep || !isTree(value)) return value;
	if (Array.isArray(value)) return value.map(copyOf);
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]));
}

function isTree(value: unknown): value is Mutable | unknown[] {
	return Array.isArray(value) || isObject(value);
}

function isObject(value: unknown): value is Mutable {
	return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Embedded);
}
