// Keeps the end of what a program has written, so that a program that is watched for minutes costs no more memory than one that ends.

export class RecentOutput {
	readonly #most: number;
	#text = "";

	/** `most`: the number of characters that are kept at least. At times, twice as many are kept, so that adding is fast. */
	constructor(most = Number.POSITIVE_INFINITY) {
		this.#most = most;
	}

	get text(): string {
		return this.#text;
	}

	add(data: string): void {
		this.#text += data;
		if (this.#text.length > 2 * this.#most) this.#text = this.#text.slice(-this.#most);
	}

	clear(): void {
		this.#text = "";
	}
}
