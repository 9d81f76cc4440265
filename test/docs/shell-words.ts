// Commands of a page as a shell would split them: enough for command lines, and no more.

/** One command a line; a line that ends in a backslash goes on in the next one. */
export function commandLines(block: string): readonly string[] {
	return block
		.replaceAll("\\\n", " ")
		.split("\n")
		.map((line) => line.replace(/^\$ /, ""));
}

/** The words of a command up to the end of it: a pipe, a semicolon, a redirection or a comment. */
export function shellWords(command: string): readonly string[] {
	const words: string[] = [];
	for (const [word] of command.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g)) {
		if (/^(#|\||>|<|;|&)/.test(word)) break;
		const plain = word.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, "$1$2");
		words.push(plain.replace(/;$/, ""));
		if (plain.endsWith(";")) break;
	}
	return words;
}
