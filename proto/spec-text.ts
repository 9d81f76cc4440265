// Parses the spec of a budget from its JSON. Every count reports all budgets of a namespace, and they are nearly always the same. So parsed
// specs are kept.
//
// Guarantee: the result is what the text says, now and later. It is frozen as a whole, so no code can change it.

/** Enough for all namespaces of a run. With more specs, the memory is emptied and specs are parsed again. */
const mostKept = 4_096;
const kept = new Map<string, unknown>();

/** Parses the text. While a value is kept, the same text returns that same frozen value. Throws SyntaxError if the text is not JSON. */
export function readSpecText(text: string): unknown {
	if (kept.has(text)) return kept.get(text);
	const spec: unknown = JSON.parse(text, (_key, value: unknown) => Object.freeze(value));
	if (kept.size >= mostKept) kept.clear();
	kept.set(text, spec);
	return spec;
}
