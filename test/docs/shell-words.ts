// Splits the commands of a page as a shell would, as far as command lines need it.

/** Returns one command for each line. A backslash at the end continues a line. */
export function commandLines(block: string): readonly string[] {
	return block
		.replaceAll("\\\n", " ")
		.split("\n")
		.map((line) => line.replace(/^\$ /, ""));
}

/** Returns the words of a command up to a pipe, a semicolon, a redirection or a comment. */
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
