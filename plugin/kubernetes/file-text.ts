// A file that somebody named, or why it cannot be read, in kubectl's words.
import { readFileSync } from "node:fs";
import { oneLine } from "../../disruption/printable.ts";

export type FileText = { readonly content: string; readonly problem?: undefined } | { readonly problem: string };

export function readFileText(path: string): FileText {
	try {
		return { content: readFileSync(path, "utf8") };
	} catch (error) {
		const shown = oneLine(path);
		const code = error instanceof Error && "code" in error ? String(error.code) : "";
		switch (code) {
			case "ENOENT":
				return { problem: `open ${shown}: no such file or directory` };
			case "EACCES":
				return { problem: `open ${shown}: permission denied` };
			case "EISDIR":
				return { problem: `read ${shown}: is a directory` };
			default:
				return { problem: `open ${shown}: ${code}` };
		}
	}
}
