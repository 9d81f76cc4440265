// Finds the parts of a Markdown page that tests check: headings, links, inline code and code blocks.
import { listFiles, readSource } from "../architecture/source-files.ts";

export interface Page {
	readonly path: string;
	/** Anchors as links write them, in GitHub's form. */
	readonly anchors: ReadonlySet<string>;
	readonly links: readonly Found[];
	/** Inline code. */
	readonly words: readonly Found[];
	readonly blocks: readonly Block[];
}

export interface Found {
	readonly text: string;
	readonly line: number;
}

export interface Block extends Found {
	/** For example "sh" or "yaml". "" if the page does not say. */
	readonly language: string;
}

export function readPages(): readonly Page[] {
	return listFiles()
		.filter((path) => path.endsWith(".md"))
		.map((path) => parsePage(path, readSource(path)));
}

export function parsePage(path: string, text: string): Page {
	const anchors = new Set<string>();
	const links: Found[] = [];
	const words: Found[] = [];
	const blocks: Block[] = [];
	let open: { readonly fence: string; readonly language: string; readonly line: number; text: string } | undefined;
	for (const [index, line] of text.split("\n").entries()) {
		const fence = /^\s*(```+)(\w*)/.exec(line);
		if (open) {
			if (fence?.[1] === open.fence) {
				blocks.push({ text: open.text, language: open.language, line: open.line });
				open = undefined;
			} else open.text += `${line}\n`;
			continue;
		}
		if (fence?.[1] !== undefined) {
			open = { fence: fence[1], language: fence[2] ?? "", line: index + 2, text: "" };
			continue;
		}
		const found = (text: string | undefined): Found => ({ text: text ?? "", line: index + 1 });
		const heading = /^#+ (.*)$/.exec(line)?.[1];
		if (heading !== undefined) anchors.add(anchorOf(heading, anchors));
		for (const match of line.matchAll(/`([^`]+)`/g)) words.push(found(match[1]));
		for (const match of line.replaceAll(/`[^`]*`/g, "``").matchAll(/\]\(([^)\s]+)\)/g)) links.push(found(match[1]));
	}
	if (open) throw new Error(`${path}:${open.line - 1} begins a block that does not end`);
	return { path, anchors, links, words, blocks };
}

/**
 * Follows GitHub: letters become lower case, spaces become "-", punctuation except "-" and "_" is removed, and repeated anchors get a
 * number.
 */
function anchorOf(heading: string, taken: ReadonlySet<string>): string {
	const plain = heading
		.toLowerCase()
		.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
		.replaceAll(/[^\p{L}\p{N} _-]/gu, "")
		.replaceAll(" ", "-");
	let anchor = plain;
	for (let count = 1; taken.has(anchor); count += 1) anchor = `${plain}-${count}`;
	return anchor;
}
