// The spec of a budget out of its JSON. Every count of a namespace tells all its budgets, nearly always the same ones again: what was read once is
// not read anew.
//
// Guarantee: what comes back is what the text says, now and later: nobody can change it, for it is frozen as a whole.

/** Of all namespaces that a run has to do with; more are read anew. */
const mostKept = 4_096;
const kept = new Map<string, unknown>();

/** Throws SyntaxError for what is not JSON. The same text gives the same value, which is frozen. */
export function readSpecText(text: string): unknown {
	if (kept.has(text)) return kept.get(text);
	const spec: unknown = JSON.parse(text, (_key, value: unknown) => Object.freeze(value));
	if (kept.size >= mostKept) kept.clear();
	kept.set(text, spec);
	return spec;
}
