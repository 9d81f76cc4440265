// Foreign values in messages: never longer than a line, and in words where there is nothing to show.

const longestShown = 80;

/** A value as a message shows it: a text in quotes, a list or an object only as what it is, "missing" where there is none. */
export function quote(value: unknown): string {
	if (typeof value === "string") return JSON.stringify(shorten(value));
	if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
	if (value === undefined) return "missing";
	return Array.isArray(value) ? "a list" : "an object";
}

/** The beginning of a text that may be of any length. */
export function shorten(text: string): string {
	return shortenTo(text, longestShown);
}

/** At most so many characters, and no half ones. */
export function shortenTo(text: string, length: number): string {
	return text.length <= length ? text.toWellFormed() : `${text.slice(0, length).toWellFormed()}…`;
}
