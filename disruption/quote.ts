// Formats foreign values for messages, and shortens them to fit a line.

const longestShown = 80;

/** A text is quoted and shortened, a list or object is only named as such, and undefined is "missing". */
export function quote(value: unknown): string {
	if (typeof value === "string") return JSON.stringify(shorten(value));
	if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
	if (value === undefined) return "missing";
	return Array.isArray(value) ? "a list" : "an object";
}

export function shorten(text: string): string {
	return shortenTo(text, longestShown);
}

/** Returns the text, or its first `length` characters and "…" if it is longer. Half surrogate pairs are replaced. */
export function shortenTo(text: string, length: number): string {
	return text.length <= length ? text.toWellFormed() : `${text.slice(0, length).toWellFormed()}…`;
}
