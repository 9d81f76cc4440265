// Prepares the driven sources for threads that explore: with a call around each operand of an `await`, and with a mutant if one is chosen.
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isNode, lineOf, parseSource, walk } from "../architecture/syntax-tree.ts";
import type { Sources } from "./load-sources.ts";
import { mutatedSources } from "./mutant.ts";
import { findMutant } from "./mutants.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** The folders at whose awaits processes can stop. The exploration also drives files of other folders. */
const drivenFolders = ["disruption", "agent/leases", "agent/views", "plugin/drain", "plugin/evictions", "plugin/fleet"];

/** The sources without a mutant, made once in a process. */
let shipped: Sources | undefined;

/** Returns the changed sources by URL. `mutantName` is undefined for the shipped code. */
export function drivenSources(mutantName: string | undefined): Sources {
	shipped ??= findAwaitPoints();
	if (mutantName === undefined) return shipped;
	const sources = new Map(shipped);
	for (const [url, text] of mutatedSources(findMutant(mutantName)))
		sources.set(url, shipped.has(url) ? withAwaitPoints(relative(root, fileURLToPath(url)), text) : text);
	return sources;
}

function findAwaitPoints(): Sources {
	const files = drivenFolders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
	const entries = files.flatMap((file): [string, string][] => {
		const text = readFileSync(join(root, file), "utf8");
		return /\bawait\b/.test(text) ? [[pathToFileURL(join(root, file)).href, withAwaitPoints(file, text)]] : [];
	});
	return new Map(entries);
}

/** Returns the text of the file with `globalThis.awaitPoint(operand, "file:line")` in place of the operand of each await. */
export function withAwaitPoints(file: string, text: string): string {
	const edits: { readonly at: number; readonly text: string }[] = [];
	walk(parseSource(file, text), (node) => {
		const { argument } = node as { readonly argument?: unknown };
		if (node.type === "AwaitExpression" && isNode(argument)) {
			const place = JSON.stringify(`${file}:${lineOf(text, node)}`);
			edits.push({ at: argument.start, text: "globalThis.awaitPoint(" }, { at: argument.end, text: `, ${place})` });
		}
		return undefined;
	});
	return edits
		.toSorted((a, b) => b.at - a.at)
		.reduce((code, edit) => code.slice(0, edit.at) + edit.text + code.slice(edit.at), text);
}
