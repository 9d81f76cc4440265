// HTML whose texts are always texts: what pods, agents and servers wrote never becomes markup. A tagged template, and the only
// place that makes markup of a value.
import { printable } from "../../disruption/printable.ts";

export interface Html {
	readonly markup: string;
}

type Value = Html | readonly Html[] | string | number;

const entities: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

/** Attributes stand in double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
	return { markup: strings.reduce((text, part, index) => `${text}${markupOf(values[index - 1] ?? "")}${part}`) };
}

export const nothing: Html = { markup: "" };

function markupOf(value: Value): string {
	if (typeof value === "number") return String(value);
	if (typeof value === "string")
		return printable(value).replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
	if ("markup" in value) return value.markup;
	return value.map(({ markup }) => markup).join("");
}
