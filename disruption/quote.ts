// Foreign values in messages: never longer than a line, and a word if there is nothing to show.

const longestShown = 80;

/** A value as a message shows it. A text is quoted, a list or object is only named as such, and undefined is "missing". */
export function quote(value: unknown): string {
	if (typeof value === "string") return JSON.stringify(shorten(value));
	if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
	if (value === undefined) return "missing";
	return Array.isArray(value) ? "a list" : "an object";
}

/** The beginning of a text of any length. */
export function shorten(text: string): string {
	return shortenTo(text, longestShown);
}

/** At most `length` characters, without half characters. */
export function shortenTo(text: string, length: number): string {
	return text.length <= length ? text.toWellFormed() : `${text.slice(0, length).toWellFormed()}…`;
}
