// The last line of a frame: every key that does something there, in as many words as fit. A key that is not named is not found.
import { piece, type StyledLine, type Tone, widthOf } from "./styled-line.ts";

export interface FooterKey {
	readonly key: string;
	/** What it does. */
	readonly does: string;
	/** Where there is less room: both in few letters. */
	readonly short: string;
	/** Where there is least, in the place of the key. */
	readonly least?: string;
}

export function footerLine(keys: readonly FooterKey[], columns: number, tone: Tone = "dim"): StyledLine {
	const texts = [
		keys.map(({ key, does }) => `${key} ${does}`.trim()).join("  "),
		keys.map(({ short }) => short).join("  "),
		keys.map(({ key, short }) => (key === "?" ? short : short.replace(" ", "-"))).join(" "),
		keys.map(({ key, least = key }) => least).join(" "),
	];
	const text = texts.find((each) => widthOf(each) < columns) ?? texts.at(-1) ?? "";
	return [piece(` ${text}`, tone)];
}
