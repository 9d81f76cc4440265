// Builds HTML in which text never becomes markup, whatever pods, agents and servers wrote. This template tag is the only place that turns
// a value into markup.
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

/** Builds markup from a template. Texts among the values are escaped. Attribute values must be in double quotes. */
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
