// Suggests a known name for an unknown one, for example of a flag, a context, a kind or an object. For an unknown command, cli.ts suggests
// the name that yargs recommends only if this module accepts it, because yargs allows three typing errors.

/**
 * Returns the nearest of `known` within two typing errors. A word of up to four letters may have only one, because "all" would otherwise
 * match "as". A name that begins with the word counts as free of errors if the word has at least three letters.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
	const errors = word.length < 5 ? 1 : 2;
	const ranked = known
		.map((name) => ({ name, distance: name.startsWith(word) && word.length > 2 ? 0 : editDistance(word, name) }))
		.filter(({ distance }) => distance <= errors)
		.toSorted((a, b) => a.distance - b.distance);
	return ranked[0]?.name;
}

/** Counts the letters that are wrong, missing, extra, or swapped with the next one. */
function editDistance(a: string, b: string): number {
	// Lengths that differ this much mean too many errors in any case.
	if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
	let before: readonly number[] = [];
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i += 1) {
		const next = [i];
		for (let j = 1; j <= b.length; j += 1) {
			const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
			next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
		}
		before = row;
		row = next;
	}
	return row[b.length] ?? 0;
}
