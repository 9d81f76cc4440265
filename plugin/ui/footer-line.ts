// Makes the last line of a frame: the keys that work there, in as many words as fit.
import { piece, type StyledLine, type Tone, widthOf } from "./styled-line.ts";

export interface FooterKey {
	readonly key: string;
	readonly does: string;
	/** The key and what it does, for less room. */
	readonly short: string;
	/** For the least room. Default: the key. */
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
