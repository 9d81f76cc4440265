// Emulates the part of a terminal that the plugin's screens use. An unknown escape sequence is an error, so that each new one is checked.

const escape = String.fromCodePoint(0x1b);
const bell = String.fromCodePoint(7);

export interface Cell {
	readonly character: string;
	/** Colour and weight, for example "yellow bold". */
	readonly looks: string;
}

type Buffer = Cell[][];

const colours: Readonly<Record<number, string>> = { 31: "red", 32: "green", 33: "yellow", 36: "cyan" };

export class TerminalEmulator {
	columns: number;
	rows: number;
	#normal: Buffer = [];
	#alternate: Buffer | undefined;
	#row = 0;
	#column = 0;
	#saved = { row: 0, column: 0 };
	#rest = "";
	/** Private modes that are set, for example 25 for a visible cursor. */
	readonly modes = new Set(["25"]);
	readonly #look: { colour?: string | undefined; weight?: string | undefined } = {};
	/** Number of SGR sequences so far, without pure resets. */
	styles = 0;

	constructor(columns: number, rows: number) {
		this.columns = columns;
		this.rows = rows;
	}

	get isAlternate(): boolean {
		return this.#alternate !== undefined;
	}

	/** The lines of the shown screen, without trailing spaces. On the normal screen, also those that have scrolled out of sight. */
	get lines(): readonly string[] {
		return this.#textOf(this.#alternate ?? this.#normal);
	}

	/** The normal screen, also while the alternate screen is shown. */
	get normalLines(): readonly string[] {
		return this.#textOf(this.#normal);
	}

	/** Undefined where nothing was written. */
	get cells(): readonly (readonly (Cell | undefined)[])[] {
		return Array.from(
			{ length: this.rows },
			(_, row) => (this.#alternate ?? this.#normal.slice(-this.rows))[row] ?? [],
		);
	}

	resize(columns: number, rows: number): void {
		this.columns = columns;
		this.rows = rows;
	}

	write(data: string): void {
		const text = this.#rest + data;
		const token = new RegExp(
			`${escape}\\[([?>]?)([\\d;]*)([A-Za-z])|${escape}([78=>])|\\r|\\n|${bell}|([^${escape}\\r\\n${bell}]+)`,
			"gy",
		);
		let end = 0;
		for (let match = token.exec(text); match; match = token.exec(text)) {
			end = token.lastIndex;
			const [all, prefix, parameters, final, short, plain] = match;
			if (plain !== undefined) this.#print(plain);
			else if (all === "\r") this.#column = 0;
			else if (all === "\n") this.#moveTo(this.#row + 1, this.#column);
			else if (final !== undefined) this.#control(prefix ?? "", parameters ?? "", final);
			else if (short === "7") this.#saved = { row: this.#row, column: this.#column };
			else if (short === "8") this.#moveTo(this.#saved.row, this.#saved.column);
		}
		this.#rest = text.slice(end);
		if (this.#rest.length > 32) throw new Error(`not understood: ${JSON.stringify(this.#rest.slice(0, 32))}`);
	}

	#textOf(buffer: Buffer): readonly string[] {
		return Array.from(buffer, (line) =>
			Array.from(line ?? [], (cell) => (cell as Cell | undefined)?.character ?? " ")
				.join("")
				.trimEnd(),
		);
	}

	#print(text: string): void {
		const looks = [this.#look.colour, this.#look.weight].filter((look) => look !== undefined).join(" ");
		for (const character of text) {
			if (this.#column >= this.columns) {
				this.#column = 0;
				this.#moveTo(this.#row + 1, 0);
			}
			this.#line()[this.#column] = { character, looks };
			this.#column += 1;
		}
	}

	#line(): Cell[] {
		const buffer = this.#alternate ?? this.#normal;
		const line = buffer[this.#row] ?? [];
		buffer[this.#row] = line;
		return line;
	}

	/** The alternate screen has only its rows. The normal screen keeps all lines that scrolled out of sight. */
	#moveTo(row: number, column: number): void {
		this.#row = Math.max(0, row);
		this.#column = Math.min(Math.max(0, column), this.columns - 1);
		if (!this.#alternate) return;
		for (; this.#row >= this.rows; this.#row -= 1) this.#alternate.shift();
	}

	#control(prefix: string, parameters: string, final: string): void {
		const [first = 0, second = 0] = parameters.split(";").map(Number);
		const count = Math.max(1, first);
		if (prefix === "?" && (final === "h" || final === "l")) return this.#mode(parameters, final === "h");
		if (prefix !== "") throw new Error(`not understood: ESC [ ${prefix}${parameters}${final}`);
		switch (final) {
			case "m":
				if (!/^(0|22|39)?$/.test(parameters)) this.styles += 1;
				for (const parameter of parameters.split(";")) this.#style(Number(parameter));
				return;
			case "A":
				return this.#moveTo(this.#row - count, this.#column);
			case "B":
				return this.#moveTo(this.#row + count, this.#column);
			case "C":
				return this.#moveTo(this.#row, this.#column + count);
			case "D":
				return this.#moveTo(this.#row, this.#column - count);
			case "E":
				return this.#moveTo(this.#row + count, 0);
			case "F":
				return this.#moveTo(this.#row - count, 0);
			case "G":
				return this.#moveTo(this.#row, count - 1);
			case "H":
				return this.#moveTo(count - 1, Math.max(1, second) - 1);
			case "J":
				return this.#eraseDisplay(first);
			case "K":
				return this.#eraseLine(first);
			default:
				throw new Error(`not understood: ESC [ ${parameters}${final}`);
		}
	}

	#style(parameter: number): void {
		if (parameter === 0 || parameter === 39) this.#look.colour = undefined;
		if (parameter === 0 || parameter === 22) this.#look.weight = undefined;
		if (parameter === 1) this.#look.weight = "bold";
		if (parameter === 2) this.#look.weight = "dim";
		if (parameter in colours) this.#look.colour = colours[parameter];
	}

	#mode(mode: string, isSet: boolean): void {
		if (isSet) this.modes.add(mode);
		else this.modes.delete(mode);
		if (mode !== "1049") return;
		if (isSet) {
			this.#saved = { row: this.#row, column: this.#column };
			this.#alternate = [];
			this.#moveTo(0, 0);
		} else {
			this.#alternate = undefined;
			this.#moveTo(this.#saved.row, this.#saved.column);
		}
	}

	#eraseDisplay(what: number): void {
		const buffer = this.#alternate ?? this.#normal;
		if (what === 2) buffer.length = 0;
		else if (what === 0) {
			this.#eraseLine(0);
			buffer.length = Math.min(buffer.length, this.#row + 1);
		} else throw new Error(`not understood: ESC [ ${what}J`);
	}

	#eraseLine(what: number): void {
		const line = this.#line();
		if (what === 0) line.length = Math.min(line.length, this.#column);
		else if (what === 2) line.length = 0;
		else for (let column = 0; column <= this.#column; column += 1) line[column] = { character: " ", looks: "" };
	}
}
