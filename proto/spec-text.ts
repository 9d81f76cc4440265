// Parses a budget's spec from its JSON, and caches the result. Every count reports all budgets of a namespace, nearly always unchanged.
//
// Guarantee: the result is what the text says, now and later. It is frozen as a whole, so no code can change it.

/** Enough for all namespaces of a run. With more specs, the cache is emptied and specs are parsed again. */
const mostKept = 4_096;
const kept = new Map<string, unknown>();

/** While a spec is cached, the same text returns the same frozen value. Throws SyntaxError if the text is not JSON. */
export function readSpecText(text: string): unknown {
	if (kept.has(text)) return kept.get(text);
	const spec: unknown = JSON.parse(text, (_key, value: unknown) => Object.freeze(value));
	if (kept.size >= mostKept) kept.clear();
	kept.set(text, spec);
	return spec;
}
