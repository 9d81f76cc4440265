// Shortens names so that they stay distinct: a similar name could lead to the wrong cluster.
import { cutMiddle, widthOf } from "./styled-line.ts";

/** Returns the shortened form of each name. Equal names stay equal. */
export function distinctNames(names: Iterable<string>, columns: number): ReadonlyMap<string, string> {
	const all = [...new Set(names)];
	const shown = new Map(all.map((name) => [name, cutMiddle(name, columns)]));
	const byText = Map.groupBy(all, (name) => shown.get(name) ?? name);
	for (const [text, alike] of byText) {
		if (alike.length === 1) continue;
		const taken = new Set([...byText.keys()].filter((each) => each !== text));
		for (const [name, other] of apart(alike, columns, taken)) shown.set(name, other);
	}
	return shown;
}

/** Keeps the part in which the names differ. If that is too long, numbers the names. */
function apart(
	names: readonly string[],
	columns: number,
	taken: ReadonlySet<string>,
): readonly (readonly [string, string])[] {
	const [first = ""] = names;
	const from = Math.min(...names.slice(1).map((name) => firstDifference(first, name)));
	for (const lead of [Math.floor(columns / 3), 3, 0]) {
		const window = columns - lead - 4;
		if (window < 2) continue;
		const texts = names.map((name) => {
			const front = name.slice(0, Math.min(lead, from));
			const rest = name.slice(from);
			const part = widthOf(rest) <= window + 2 ? rest : `${rest.slice(0, window)}..`;
			return `${front}${from > front.length ? ".." : ""}${part}`;
		});
		const isApart =
			new Set(texts).size === names.length && texts.every((text) => !taken.has(text) && widthOf(text) <= columns);
		if (isApart) return names.map((name, at) => [name, texts[at] ?? name]);
	}
	return names.map((name, at) => {
		const number = `~${at + 1}`;
		return [name, `${cutMiddle(name, Math.max(0, columns - number.length))}${number}`];
	});
}

function firstDifference(a: string, b: string): number {
	let at = 0;
	while (at < a.length && a[at] === b[at]) at += 1;
	return at;
}

/** The width of the longest name and a space, within these bounds. */
export function nameColumn(
	names: Iterable<string>,
	{ least, most }: { readonly least: number; readonly most: number },
): number {
	let longest = 0;
	for (const name of names) longest = Math.max(longest, widthOf(name));
	return Math.max(Math.min(least, most), Math.min(longest + 1, most));
}
