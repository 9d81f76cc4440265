// A file that somebody named, or why it cannot be read, in kubectl's words.
import { readFileSync } from "node:fs";

export type FileText = { readonly content: string; readonly problem?: undefined } | { readonly problem: string };

export function readFileText(path: string): FileText {
	try {
		return { content: readFileSync(path, "utf8") };
	} catch (error) {
		const code = error instanceof Error && "code" in error ? String(error.code) : "";
		switch (code) {
			case "ENOENT":
				return { problem: `open ${path}: no such file or directory` };
			case "EACCES":
				return { problem: `open ${path}: permission denied` };
			case "EISDIR":
				return { problem: `read ${path}: is a directory` };
			default:
				return { problem: `open ${path}: ${code}` };
		}
	}
}
