// Pages that people write, with parts between two marks that are generated: `<!-- generated: NAME -->` and `<!-- /generated -->`.

/** The text of each generated part of a page, by its name. */
export type GeneratedParts = Readonly<Record<string, string>>;

const part = /(<!-- generated: (.+?) -->\n)[^]*?(<!-- \/generated -->\n)/g;

/** The page with its parts made anew. Throws where a page and its parts do not fit: each part has its place, once. */
export function withGeneratedParts(page: string, parts: GeneratedParts): string {
	const places = [...page.matchAll(part)].map(([, , name = ""]) => name);
	const names = Object.keys(parts);
	if (places.toSorted().join("\n") !== names.toSorted().join("\n")) {
		throw new Error(`The page has places for ${JSON.stringify(places)}, generated were ${JSON.stringify(names)}`);
	}
	return page.replace(part, (_, start: string, name: string, end: string) => `${start}\n${parts[name]}\n\n${end}`);
}
