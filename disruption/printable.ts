// Makes foreign text safe to show. Text from API servers, agents, kubeconfigs and other people's objects must not control a terminal, and
// must not look like something that it is not.

/**
 * The characters that printable() escapes: control characters except newline and tab, other line ends, characters that change the writing
 * direction, and characters without width (formats, tags, fillers). Emoji and scripts keep what they need: variation selectors, and the
 * joiner between two pictures.
 */
const steering =
	/(?![\n\t]|\p{Variation_Selector})(?!(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d\p{Extended_Pictographic})[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const plain = /^[\n\t\x20-\x7e]*$/;

/**
 * Replaces these characters with escapes like \u001b, which JSON reads back as the same characters. So a JSON text stays valid and keeps
 * its meaning. Half surrogate pairs become U+FFFD. Printable text is returned unchanged.
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
