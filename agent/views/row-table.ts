import { randomInt } from "node:crypto";

// Secret, so that a tenant cannot choose names and labels whose hashes are equal.
const seed = randomInt(2 ** 32);
const multiplier = 2 * randomInt(2 ** 31) + 1;

/** A hash table of row numbers, which takes six bytes for each. Its keys are in the rows. */
export class RowTable {
	readonly #hashOf: (row: number) => number;
	/** Rows plus one; 0 is an empty place. The length is a power of two. */
	#places = new Int32Array(16);
	#size = 0;

	constructor(hashOf: (row: number) => number) {
		this.#hashOf = hashOf;
	}

	/** Returns the row that is the wanted one, or -1. */
	find(hash: number, isWanted: (row: number) => boolean): number {
		const mask = this.#places.length - 1;
		for (let place = hash & mask; ; place = (place + 1) & mask) {
			const row = this.#rowAt(place);
			if (row < 0 || isWanted(row)) return row;
		}
	}

	/** The row must not be in the table, and must have its key already. */
	add(row: number): void {
		if ((this.#size + 1) * 4 > this.#places.length * 3) this.#grow();
		this.#place(row);
		this.#size += 1;
	}

	/** The row must still have the key that it was added with. */
	remove(row: number): void {
		const mask = this.#places.length - 1;
		let hole = this.#hashOf(row) & mask;
		while (this.#rowAt(hole) !== row) {
			if (this.#rowAt(hole) < 0) return;
			hole = (hole + 1) & mask;
		}
		// Moves back what could not be at its own place because this row was there.
		for (let place = (hole + 1) & mask; this.#rowAt(place) >= 0; place = (place + 1) & mask) {
			const home = this.#hashOf(this.#rowAt(place)) & mask;
			if (((place - home) & mask) < ((place - hole) & mask)) continue;
			this.#places[hole] = this.#places[place] ?? 0;
			hole = place;
		}
		this.#places[hole] = 0;
		this.#size -= 1;
	}

	clear(): void {
		this.#places = new Int32Array(16);
		this.#size = 0;
	}

	#rowAt(place: number): number {
		return (this.#places[place] ?? 0) - 1;
	}

	#place(row: number): void {
		const mask = this.#places.length - 1;
		let place = this.#hashOf(row) & mask;
		while (this.#rowAt(place) >= 0) place = (place + 1) & mask;
		this.#places[place] = row + 1;
	}

	#grow(): void {
		const before = this.#places;
		this.#places = new Int32Array(before.length * 2);
		for (const place of before) if (place > 0) this.#place(place - 1);
	}
}

/** With another salt, the same text has another hash. */
export function hashText(text: string, salt = 0): number {
	let hash = seed ^ salt;
	for (let index = 0; index < text.length; index += 1) {
		hash = Math.imul(hash ^ text.charCodeAt(index), multiplier);
		// A multiplication carries differences only upward.
		hash ^= hash >>> 15;
	}
	return hash >>> 0;
}
