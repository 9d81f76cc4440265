import { parseSync, visitorKeys } from "oxc-parser";

/** A node of the syntax tree. Its other properties depend on `type`. */
export interface SyntaxNode {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [property: string]: unknown;
}

/** Throws if parsing fails, because a rule must not pass a file that it cannot read. */
export function parseSource(path: string, text: string): SyntaxNode {
	const { program, errors } = parseSync(path, text, { sourceType: "module", preserveParens: false });
	const [error] = errors;
	if (error) throw new SyntaxError(`Cannot parse ${path}: ${error.message}`);
	return program as unknown as SyntaxNode;
}

/** Visits the node and its descendants, each with its parent. "skip" leaves out the descendants. */
export function walk(
	node: SyntaxNode,
	visit: (node: SyntaxNode, parent: SyntaxNode | undefined) => "skip" | undefined,
	parent?: SyntaxNode,
): void {
	if (visit(node, parent) === "skip") return;
	for (const key of visitorKeys[node.type] ?? []) {
		for (const child of childNodes(node[key])) walk(child, visit, node);
	}
}

export function isNode(value: unknown): value is SyntaxNode {
	return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Returns the text of a string literal, or of a template without expressions. Undefined for other nodes. */
export function literalText(node: unknown): string | undefined {
	if (!isNode(node)) return undefined;
	if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
	if (node.type !== "TemplateLiteral" || childNodes(node["expressions"]).length > 0) return undefined;
	const [quasi] = childNodes(node["quasis"]);
	return (quasi?.["value"] as { readonly cooked: string } | undefined)?.cooked;
}

/** Undefined unless the node is a plain identifier. */
export function identifierName(node: unknown): string | undefined {
	return isNode(node) && node.type === "Identifier" ? String(node["name"]) : undefined;
}

/** Returns the name of the property that a member expression reads, as `.name` or `["name"]`. */
export function memberName(node: SyntaxNode): string | undefined {
	return node["computed"] ? literalText(node["property"]) : identifierName(node["property"]);
}

export function childNodes(value: unknown): SyntaxNode[] {
	return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
}

export function lineOf(text: string, node: SyntaxNode): number {
	return text.slice(0, node.start).split("\n").length;
}
