// What was meant by a name that is not known: a flag, a context, a kind, an object. Commands are yargs' recommendCommands()'s matter, which
// knows nothing else, and takes three typing errors for near.

/** The nearest of `known` within two typing errors, for "did you mean". Of a short word, two errors leave nothing: "all" is not "as". */
export function nearest(word: string, known: readonly string[]): string | undefined {
	const errors = word.length < 5 ? 1 : 2;
	const ranked = known
		.map((name) => ({ name, distance: name.startsWith(word) && word.length > 2 ? 0 : editDistance(word, name) }))
		.filter(({ distance }) => distance <= errors)
		.toSorted((a, b) => a.distance - b.distance);
	return ranked[0]?.name;
}

/** How many letters are wrong, missing, too many, or in the wrong order with the next one. */
function editDistance(a: string, b: string): number {
	// Far apart whatever they say.
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
