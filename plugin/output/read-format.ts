// -o of the commands that only read.
import { stringify } from "yaml";
import { UsageError } from "../errors.ts";
import type { TextSink } from "../streams.ts";

export type ReadFormat = "table" | "wide" | "name" | "json" | "yaml";

/** Throws UsageError in kubectl's words. */
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

/** As kubectl prints objects. */
export function writeDocument(stdout: TextSink, format: "json" | "yaml", document: object): void {
	// Without line folding: a text stays on its line, as in kubectl's YAML.
	const text = format === "json" ? `${JSON.stringify(document, null, 4)}\n` : stringify(document, { lineWidth: 0 });
	stdout.write(text);
}
