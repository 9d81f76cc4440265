// Reads a file, and words a failure as kubectl does.
import { readFileSync } from "node:fs";
import { oneLine } from "../../disruption/printable.ts";

export type FileText = { readonly content: string; readonly problem?: undefined } | FileProblem;
export type FileBytes = { readonly content: Buffer; readonly problem?: undefined } | FileProblem;

interface FileProblem {
	readonly problem: string;
	readonly isMissing: boolean;
}

export function readFileText(path: string): FileText {
	const file = readFileBytes(path);
	return file.problem === undefined ? { content: file.content.toString("utf8") } : file;
}

export function readFileBytes(path: string): FileBytes {
	try {
		return { content: readFileSync(path) };
	} catch (error) {
		const shown = oneLine(path);
		const code = error instanceof Error && "code" in error ? String(error.code) : "";
		return { problem: problemOf(code, shown), isMissing: code === "ENOENT" };
	}
}

function problemOf(code: string, shown: string): string {
	switch (code) {
		case "ENOENT":
			return `open ${shown}: no such file or directory`;
		case "ENOTDIR":
			return `open ${shown}: not a directory`;
		case "EACCES":
			return `open ${shown}: permission denied`;
		case "EISDIR":
			return `read ${shown}: is a directory`;
		default:
			return `open ${shown}: ${code}`;
	}
}
