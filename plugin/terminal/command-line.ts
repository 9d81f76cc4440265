// Returns a command line that the user can paste into a POSIX shell.
export function commandLine(words: readonly string[]): string {
	return words.map(quote).join(" ");
}

function quote(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
