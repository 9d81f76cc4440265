// Texts of others where people read them: what API servers, agents, kubeconfigs and other people's objects say must neither steer a
// terminal nor look like something that it is not.

/**
 * Control characters (lines and tabs stay), other ends of lines, what turns the direction of writing, and what has no width: formats,
 * tags, fillers. Emoji and scripts keep what they are written with: variation selectors, and the joiner between two pictures.
 */
const steering =
	/(?![\n\t]|\p{Variation_Selector})(?!(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d\p{Extended_Pictographic})[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const plain = /^[\n\t\x20-\x7e]*$/;

/**
 * Such characters as \u001b and the like, which JSON reads back as what they were: a JSON text stays one, and says the same. Printable
 * text comes out as it went in.
 */
export function printable(text: string): string {
	return plain.test(text) ? text : text.toWellFormed().replaceAll(steering, escaped);
}

/** The same on one line. */
export function oneLine(text: string): string {
	return printable(text).replaceAll(/[\n\t]/g, escaped);
}

/** Indents every line but the first by at least two spaces. */
export function indentMore(text: string): string {
	return text.replaceAll(/\r\n?|\n/g, "\n").replaceAll(/\n(?=.)(?! {2})/g, "\n  ");
}

function escaped(character: string): string {
	return Array.from(
		{ length: character.length },
		(_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`,
	).join("");
}
