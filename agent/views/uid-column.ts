import { hashText } from "./row-table.ts";

type Words = readonly [number, number, number, number];
/** The words of a uid in its usual form; any other uid as it is. */
type UidKey = Words | string;

const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function uidKey(uid: string): UidKey {
	if (!uidPattern.test(uid)) return uid;
	const digits = uid.replaceAll("-", "");
	const word = (index: number): number => Number.parseInt(digits.slice(8 * index, 8 * index + 8), 16);
	return [word(0), word(1), word(2), word(3)];
}

export function hashUid(key: UidKey): number {
	return typeof key === "string" ? hashText(key) : hashWords(key);
}

/** The uids of rows: four words each, and beside them the texts of unusual ones. */
export class UidColumn {
	#words = new Uint32Array();
	/** By row. */
	readonly #texts = new Map<number, string>();

	at(row: number): string {
		const text = this.#texts.get(row);
		if (text !== undefined) return text;
		let digits = "";
		for (const word of this.#wordsAt(row)) digits += word.toString(16).padStart(8, "0");
		return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
	}

	isAt(row: number, key: UidKey): boolean {
		if (typeof key === "string" || this.#texts.has(row)) return this.#texts.get(row) === key;
		return key.every((word, index) => this.#words[4 * row + index] === word);
	}

	hashAt(row: number): number {
		return hashUid(this.#texts.get(row) ?? this.#wordsAt(row));
	}

	write(row: number, uid: string): void {
		const key = uidKey(uid);
		if (typeof key === "string") this.#texts.set(row, key);
		else this.#words.set(key, 4 * row);
	}

	forget(row: number): void {
		this.#texts.delete(row);
	}

	clear(): void {
		this.#texts.clear();
	}

	resize(rows: number): void {
		const before = this.#words;
		this.#words = new Uint32Array(4 * rows);
		if (before.length <= this.#words.length) this.#words.set(before);
	}

	#wordsAt(row: number): Words {
		const [a = 0, b = 0, c = 0, d = 0] = this.#words.subarray(4 * row, 4 * row + 4);
		return [a, b, c, d];
	}
}

/** Most uids are random in all words. */
function hashWords(words: Words): number {
	let hash = 0;
	for (const word of words) hash = Math.imul(hash ^ word, 0x9e3779b1);
	return (hash ^ (hash >>> 15)) >>> 0;
}
