// Texts of others on a terminal: what API servers, agents and other people's objects say must not steer it.

/** Control characters as \x1b and the like; lines and tabs stay. */
export function printable(text: string): string {
	return text
		.toWellFormed()
		.replaceAll(/(?![\n\t])\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
