// The output of `npm start`: wrapped and coloured on a terminal, plain in a pipe.
import { styleText } from "node:util";

type Style = "bold" | "dim" | "green" | "yellow" | "cyan";

const widest = 100;
const indent = "  ";
/** Joins words that must stay on one line, for example "7.3 s". */
export const noBreak = "\u00a0";

export class Narrator {
	readonly #out: NodeJS.WriteStream;
	#isOver = false;

	/** `onClosed` is called once if the reader is gone (`| head -1`). */
	constructor(out: NodeJS.WriteStream, onClosed: () => void) {
		this.#out = out;
		out.on("error", () => {
			if (this.#isOver) return;
			this.#isOver = true;
			onClosed();
		});
	}

	heading(text: string): void {
		this.#write(["", ...this.#wrap(text).map((line) => this.#styled("bold", line))]);
	}

	say(text: string): void {
		this.#write(this.#wrap(text, indent));
	}

	/** Never wrapped, so that it can be copied. */
	command(text: string): void {
		this.#write([`${indent}${this.#styled("cyan", text)}`]);
	}

	quote(line: string): void {
		this.#write([line]);
	}

	aside(text: string, isGood: boolean): void {
		this.#write(this.#wrap(text, `${indent}${indent}`).map((line) => this.#styled(isGood ? "green" : "yellow", line)));
	}

	blank(): void {
		this.#write([""]);
	}

	#styled(style: Style, text: string): string {
		// styleText omits colours if the stream is a pipe or NO_COLOR is set.
		return styleText(style, text, { stream: this.#out });
	}

	#wrap(text: string, prefix = ""): string[] {
		// In a pipe, a sentence stays on one line.
		const width = this.#out.columns === undefined ? Infinity : Math.min(widest, this.#out.columns) - prefix.length;
		const lines: string[] = [];
		for (const word of text.split(" ")) {
			const last = lines.at(-1);
			if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
			else lines.push(word);
		}
		return lines.map((line) => prefix + line.replaceAll(noBreak, " "));
	}

	#write(lines: readonly string[]): void {
		if (!this.#isOver) this.#out.write(lines.map((line) => `${line}\n`).join(""));
	}
}
