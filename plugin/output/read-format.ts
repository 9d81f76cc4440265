// Parses -o of commands that only read, and prints their documents.
import { stringify } from "yaml";
import { shortenTo } from "../../disruption/quote.ts";
import { UsageError } from "../terminal/errors.ts";
import type { TextSink } from "../terminal/streams.ts";

export type ReadFormat = "table" | "wide" | "name" | "json" | "yaml";

/** Throws UsageError with kubectl's message. */
export function parseReadFormat(value: string, allowed: readonly Exclude<ReadFormat, "table">[]): ReadFormat {
	if (value === "") return "table";
	const format = allowed.find((each) => each === value);
	if (format) return format;
	throw new UsageError(
		`unable to match a printer suitable for the output format "${value}", allowed formats are: ${allowed.toSorted().join(",")}`,
	);
}

export function isDocument(format: ReadFormat): format is "json" | "yaml" {
	return format === "json" || format === "yaml";
}

/** In UTF-16 units. A longer text could fill the reader's screen. */
const longestText = 8_000;

function boundText(value: unknown): unknown {
	return typeof value === "string" ? shortenTo(value, longestText) : value;
}

/** Prints as kubectl prints objects. `isLine`: one of many, as a line of JSON or after a YAML separator. */
export function writeDocument(
	stdout: TextSink,
	format: "json" | "yaml",
	document: object,
	{ isLine = false }: { readonly isLine?: boolean } = {},
): void {
	const bounded: unknown = JSON.parse(JSON.stringify(document, (_, value: unknown) => boundText(value)));
	// Without line folding, a string stays on one line, as in kubectl's YAML.
	const text =
		format === "json"
			? `${isLine ? JSON.stringify(bounded) : JSON.stringify(bounded, null, 4)}\n`
			: `${isLine ? "---\n" : ""}${stringify(bounded, { lineWidth: 0 })}`;
	stdout.write(text, { isDocument: true });
}
