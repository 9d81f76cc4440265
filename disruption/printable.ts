// Makes foreign text safe to show: text from API servers, agents, kubeconfigs and other people's objects must not control a terminal or
// imitate other text.

/**
 * The characters that printable() escapes: control characters except newline and tab, other line ends, characters that change the writing
 * direction, and invisible characters (formats, tags, fillers). It keeps variation selectors, and the joiner between two emoji.
 */
const steering =
	/(?![\n\t]|\p{Variation_Selector})(?!(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d\p{Extended_Pictographic})[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const plain = /^[\n\t\x20-\x7e]*$/;

/**
 * Replaces the characters of `steering` with escapes like \u001b. JSON reads them back as the same characters, so a JSON text keeps its
 * meaning. Half surrogate pairs become U+FFFD.
 */
export function printable(text: string): string {
	return plain.test(text) ? text : text.toWellFormed().replaceAll(steering, escaped);
}

/** Escapes the same characters as printable(), and also newlines and tabs. */
export function oneLine(text: string): string {
	return printable(text).replaceAll(/[\n\t]/g, escaped);
}

/** Indents every line except the first by at least two spaces. Empty lines stay empty. */
export function indentMore(text: string): string {
	return text.replaceAll(/\r\n?|\n/g, "\n").replaceAll(/\n(?=.)(?! {2})/g, "\n  ");
}

function escaped(character: string): string {
	return Array.from(
		{ length: character.length },
		(_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`,
	).join("");
}
