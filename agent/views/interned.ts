import { RowTable } from "./row-table.ts";

interface Equality<T> {
	/** Equal values have the same hash. */
	readonly hashOf: (value: T) => number;
	readonly areEqual: (a: T, b: T) => boolean;
}

/** Keeps equal values once, each under a small number, for as long as rows refer to it. */
export class Interned<T extends object | string> {
	readonly #equality: Equality<T>;
	/** By number. */
	readonly #values: (T | undefined)[] = [];
	readonly #uses: number[] = [];
	readonly #free: number[] = [];
	readonly #table: RowTable;

	constructor(equality: Equality<T>) {
		this.#equality = equality;
		this.#table = new RowTable((id) => equality.hashOf(this.at(id)));
	}

	/** Counts one more use of the value. */
	take(value: T): number {
		const id = this.find(value) ?? this.#add(value);
		this.#uses[id] = (this.#uses[id] ?? 0) + 1;
		return id;
	}

	/** Undefined if no equal value is kept. */
	find(value: T): number | undefined {
		const { hashOf, areEqual } = this.#equality;
		const id = this.#table.find(hashOf(value), (each) => areEqual(this.at(each), value));
		return id < 0 ? undefined : id;
	}

	/** Counts one use less. A value without uses is forgotten. */
	release(id: number): void {
		const uses = (this.#uses[id] ?? 0) - 1;
		this.#uses[id] = uses;
		if (uses > 0) return;
		this.#table.remove(id);
		this.#values[id] = undefined;
		this.#free.push(id);
	}

	at(id: number): T {
		const value = this.#values[id];
		if (value === undefined) throw new RangeError(`no value has the number ${id}`);
		return value;
	}

	clear(): void {
		this.#table.clear();
		this.#values.length = 0;
		this.#uses.length = 0;
		this.#free.length = 0;
	}

	#add(value: T): number {
		const id = this.#free.pop() ?? this.#values.length;
		this.#values[id] = value;
		this.#uses[id] = 0;
		this.#table.add(id);
		return id;
	}
}
