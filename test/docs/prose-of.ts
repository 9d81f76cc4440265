// Extracts the text that people read in a file: messages and comments of a source file, or every line of any other file.
import { parseSync, visitorKeys } from "oxc-parser";
import { childNodes, isNode, type SyntaxNode } from "../architecture/syntax-tree.ts";
import { isSourceFile } from "../architecture/source-files.ts";

export interface Prose {
	readonly line: number;
	readonly text: string;
}

/** Stands for an expression in a template, which no phrase spans. */
const hole = "\u0000";

export function proseOf(path: string, text: string): readonly Prose[] {
	if (!isSourceFile(path)) return [{ line: 1, text: path.endsWith(".md") ? withoutMutants(text) : text }];
	const { program, comments, errors } = parseSync(path, text, { sourceType: "module" });
	if (errors[0]) throw new SyntaxError(`Cannot parse ${path}: ${errors[0].message}`);
	const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
	const found: Prose[] = [];
	const visit = (node: SyntaxNode): void => {
		if (node.type.startsWith("Import") || node.type === "TSLiteralType") return;
		if (!isText(node)) return childrenOf(node).forEach(visit);
		found.push({ line: lineAt(node.start), text: textOf(node) });
		holesOf(node).forEach(visit);
	};
	visit(program as unknown as SyntaxNode);
	return [...found, ...joinedComments(comments.map(({ start, value }) => ({ line: lineAt(start), text: value })))];
}

function joinedComments(comments: readonly Prose[]): readonly Prose[] {
	const joined: Prose[] = [];
	let next = 0;
	for (const { line, text } of comments) {
		const before = joined.at(-1);
		const plain = text.replaceAll(/^\s*\* ?/gm, "");
		if (before && line === next) joined[joined.length - 1] = { ...before, text: `${before.text}\n${plain}` };
		else joined.push({ line, text: plain });
		next = line + text.split("\n").length;
	}
	return joined;
}

/** Removes the names of mutants, such as `resumed-for-nobody`. */
function withoutMutants(text: string): string {
	return text.replaceAll(/`[a-z]+(-[a-z]+)+`/g, "``");
}

function isText(node: SyntaxNode): boolean {
	return (
		(node.type === "Literal" && typeof node["value"] === "string") ||
		node.type === "TemplateLiteral" ||
		node.type === "JSXText" ||
		(node.type === "BinaryExpression" && node["operator"] === "+")
	);
}

function textOf(node: unknown): string {
	if (!isNode(node) || !isText(node)) return hole;
	if (node.type === "BinaryExpression") return textOf(node["left"]) + textOf(node["right"]);
	if (node.type !== "TemplateLiteral") return String(node["value"]);
	const texts = childNodes(node["quasis"]).map((quasi) => (quasi["value"] as { readonly cooked: string }).cooked);
	return texts.join(hole);
}

/** Returns the expressions between the pieces of a text. */
function holesOf(node: SyntaxNode): readonly SyntaxNode[] {
	if (node.type === "TemplateLiteral") return childNodes(node["expressions"]);
	if (node.type !== "BinaryExpression") return [];
	const sides = [node["left"], node["right"]].filter(isNode);
	return sides.flatMap((side) => (isText(side) ? holesOf(side) : [side]));
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
	return (visitorKeys[node.type] ?? []).flatMap((key) => childNodes(node[key]));
}
