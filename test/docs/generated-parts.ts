// Replaces the generated parts of handwritten pages. A part is between the marks `<!-- generated: NAME -->` and `<!-- /generated -->`.

/** The texts of a page's generated parts, by name. */
export type GeneratedParts = Readonly<Record<string, string>>;

const part = /(<!-- generated: (.+?) -->\n)[^]*?(<!-- \/generated -->\n)/g;

/** Throws unless each part has exactly one place in the page. */
export function withGeneratedParts(page: string, parts: GeneratedParts): string {
	const places = [...page.matchAll(part)].map(([, , name = ""]) => name);
	const names = Object.keys(parts);
	if (places.toSorted().join("\n") !== names.toSorted().join("\n")) {
		throw new Error(`The page has places for ${JSON.stringify(places)}, generated were ${JSON.stringify(names)}`);
	}
	return page.replace(part, (_, start: string, name: string, end: string) => `${start}\n${parts[name]}\n\n${end}`);
}
