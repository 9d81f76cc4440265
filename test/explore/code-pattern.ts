// Edits one place in a source file. The place is given by the symbol that contains it and by a pattern of its code.
//
// The pattern and the code are compared as syntax: layout, comments and type annotations do not matter. In a pattern, `$x` stands for any
// one piece (`$x;` for a statement). `$$x` stands for any number of pieces in a list: arguments, elements, properties or statements. In the
// replacement, both stand for the source that they matched. A pattern that names a local variable is refused, because the next rename would
// break it.
import { childNodes, identifierName, isNode, parseSource, type SyntaxNode, walk } from "../architecture/syntax-tree.ts";

export interface CodeEdit {
	/** Path from the root of the repository. */
	readonly file: string;
	/** A top-level function, class or constant of the file, or `Class.member`. */
	readonly symbol: string;
	/** An expression; one or more whole statements (with their `;`); or `{ name: value }`, one property of a literal. */
	readonly find: string;
	/** Code of the same kind as `find`. "" removes statements or a property. */
	readonly replace: string;
}

type Kind = "expression" | "statements" | "property";

interface Pattern {
	readonly kind: Kind;
	readonly nodes: readonly SyntaxNode[];
}

interface Match {
	readonly start: number;
	readonly end: number;
	readonly holes: ReadonlyMap<string, string>;
}

/** Returns the edited text. Throws unless the pattern matches exactly once. `original` is the text before all other edits. */
export function editCode(text: string, edit: CodeEdit, original = text): string {
	refuseLocals(symbolIn(original, edit), edit);
	const pattern = parsePattern(edit.find);
	const matches = findMatches(symbolIn(text, edit), pattern, text);
	const [match] = matches;
	if (!match || matches.length > 1) {
		throw new Error(`in ${edit.symbol} of ${edit.file} this stands ${matches.length} times, not once:\n${edit.find}`);
	}
	return text.slice(0, match.start) + replacement(edit.replace, pattern.kind, match.holes) + text.slice(match.end);
}

function symbolIn(text: string, { file, symbol }: CodeEdit): SyntaxNode {
	const scope = findSymbol(parseSource(file, text), symbol);
	if (scope) return scope;
	throw new Error(`there is no ${symbol} in ${file}`);
}

function replacement(text: string, kind: Kind, holes: ReadonlyMap<string, string>): string {
	const filled = text.replace(/\$\$?[A-Za-z]\w*/g, (name) => {
		const found = holes.get(name);
		if (found === undefined) throw new Error(`${name} stands in the replacement and not in the pattern: ${text}`);
		return found;
	});
	if (kind === "expression") return `(${filled})`;
	// An empty spread replaces a removed property, so that no extra comma is left.
	return kind === "property" ? filled.trim().replace(/^\{/, "").replace(/\}$/, "") || "...{}" : filled;
}

function kindOf(text: string): Kind {
	if (/^\{[^;]*\}$/s.test(text)) return "property";
	return /[;}]$/.test(text) && !text.startsWith("(") ? "statements" : "expression";
}

function parsePattern(text: string, kind = kindOf(text.trim())): Pattern {
	const body = kind === "statements" ? text : `(${text});`;
	const [wrapper] = childNodes(parseSource("a pattern.ts", `async function pattern() {\n${body}\n}`)["body"]);
	const [block] = childNodes(wrapper?.["body"]);
	const statements = childNodes(block?.["body"]);
	if (kind === "statements") return { kind, nodes: statements };
	const [statement] = statements;
	const expression = statement?.["expression"];
	if (!isNode(expression)) throw new Error(`this is no expression: ${text}`);
	return { kind, nodes: kind === "property" ? childNodes(expression["properties"]) : [expression] };
}

function findSymbol(program: SyntaxNode, symbol: string): SyntaxNode | undefined {
	const [name, member] = symbol.split(".");
	for (const statement of childNodes(program["body"])) {
		const inner = statement["declaration"];
		const declaration = isNode(inner) ? inner : statement;
		const named = [declaration, ...childNodes(declaration["declarations"])];
		const found = named.find((node) => identifierName(node["id"]) === name);
		if (!found || member === undefined) {
			if (found) return found;
			continue;
		}
		const members = childNodes((found["body"] as SyntaxNode | undefined)?.["body"]);
		return members.find(
			({ key }) =>
				isNode(key) && (key.type === "PrivateIdentifier" ? `#${String(key["name"])}` : identifierName(key)) === member,
		);
	}
	return undefined;
}

function findMatches(scope: SyntaxNode, { kind, nodes }: Pattern, text: string): readonly Match[] {
	const matches: Match[] = [];
	walk(scope, (node) => {
		if (kind === "statements") {
			const body = ["body", "consequent"].map((key) => node[key]).find((list) => Array.isArray(list));
			const single = [node["consequent"], node["body"], node["alternate"]].filter(
				(child): child is SyntaxNode =>
					isNode(child) && child.type !== "BlockStatement" && child.type.endsWith("Statement"),
			);
			for (const list of [childNodes(body), ...single.map((each) => [each])])
				matches.push(...inList(list, nodes, text));
		} else {
			const [pattern] = nodes;
			const holes = new Map<string, string>();
			if (pattern && matchesNode(pattern, node, holes, text)) matches.push({ start: node.start, end: node.end, holes });
		}
		return undefined;
	});
	return matches;
}

function inList(list: readonly SyntaxNode[], pattern: readonly SyntaxNode[], text: string): readonly Match[] {
	const matches: Match[] = [];
	for (let from = 0; from < list.length; from += 1) {
		for (let to = from + 1; to <= list.length; to += 1) {
			const holes = new Map<string, string>();
			const part = list.slice(from, to);
			const [first, last] = [part.at(0), part.at(-1)];
			if (!first || !last || !matchesList(pattern, part, holes, text)) continue;
			matches.push({ start: first.start, end: last.end, holes });
		}
	}
	return matches;
}

const withoutMeaning: ReadonlySet<string> = new Set([
	"start",
	"end",
	"range",
	"raw",
	"shorthand",
	"directive",
	"typeAnnotation",
	"typeParameters",
	"typeArguments",
	"returnType",
	"accessibility",
]);

function matchesNode(pattern: SyntaxNode, node: SyntaxNode, holes: Map<string, string>, text: string): boolean {
	const name = identifierName(pattern.type === "ExpressionStatement" ? pattern["expression"] : pattern);
	if (name?.startsWith("$")) return bind(name, text.slice(node.start, node.end), holes);
	if (pattern.type !== node.type) return false;
	return Object.keys(pattern).every(
		(key) => withoutMeaning.has(key) || matchesValue(pattern[key], node[key], holes, text),
	);
}

function matchesValue(pattern: unknown, value: unknown, holes: Map<string, string>, text: string): boolean {
	if (isNode(pattern)) return isNode(value) && matchesNode(pattern, value, holes, text);
	if (Array.isArray(pattern))
		return Array.isArray(value) && matchesList(pattern as SyntaxNode[], value as SyntaxNode[], holes, text);
	if (typeof pattern === "object" && pattern !== null) return JSON.stringify(pattern) === JSON.stringify(value);
	// The parser leaves some fields out, or sets them to null.
	return (pattern ?? undefined) === (value ?? undefined);
}

function matchesList(
	pattern: readonly SyntaxNode[],
	list: readonly SyntaxNode[],
	holes: Map<string, string>,
	text: string,
): boolean {
	const [first, ...rest] = pattern;
	if (!first) return list.length === 0;
	const many = nameOfMany(first);
	if (many !== undefined) {
		for (let taken = 0; taken <= list.length; taken += 1) {
			const attempt = new Map(holes);
			const part = list.slice(0, taken);
			const source = part.length === 0 ? "" : text.slice(part.at(0)?.start, part.at(-1)?.end);
			if (!bind(many, source, attempt) || !matchesList(rest, list.slice(taken), attempt, text)) continue;
			for (const [key, value] of attempt) holes.set(key, value);
			return true;
		}
		return false;
	}
	const [next, ...others] = list;
	return next !== undefined && matchesNode(first, next, holes, text) && matchesList(rest, others, holes, text);
}

/** Returns the name of a hole `$$x`; undefined for any other node. */
function nameOfMany(node: SyntaxNode): string | undefined {
	const inner =
		node.type === "ExpressionStatement" ? node["expression"] : node.type === "Property" ? node["key"] : node;
	const name = identifierName(inner);
	return name?.startsWith("$$") ? name : undefined;
}

function bind(name: string, source: string, holes: Map<string, string>): boolean {
	const known = holes.get(name);
	if (known !== undefined) return known.replace(/\s+/g, "") === source.replace(/\s+/g, "");
	holes.set(name, source);
	return true;
}

function refuseLocals(scope: SyntaxNode, { symbol, file, find, replace }: CodeEdit): void {
	const locals = declaredIn([scope]);
	for (const text of [find, replace].filter((each) => each !== "")) {
		const { nodes } = parsePattern(text, kindOf(find.trim()));
		const own = text === find ? new Set<string>() : declaredIn(nodes);
		for (const name of namesIn(nodes)) {
			if (!locals.has(name) || own.has(name)) continue;
			throw new Error(`${name} is local to ${symbol} of ${file}: let a hole stand for it, as $${name}, in ${text}`);
		}
	}
}

function declaredIn(nodes: readonly SyntaxNode[]): ReadonlySet<string> {
	const names = new Set<string>();
	const addPattern = (node: unknown): void => {
		if (!isNode(node)) return;
		const name = identifierName(node);
		if (name !== undefined) names.add(name);
		else if (node.type === "Property") addPattern(node["value"]);
		else if (node.type === "AssignmentPattern") addPattern(node["left"]);
		else for (const key of ["properties", "elements", "argument"]) childNodes(node[key]).forEach(addPattern);
	};
	for (const root of nodes) {
		walk(root, (node) => {
			// A top-level declaration is not local: other code may name it.
			if (node.type === "VariableDeclarator" && node !== root) addPattern(node["id"]);
			childNodes(node["params"]).forEach(addPattern);
			if (node.type === "CatchClause") addPattern(node["param"]);
			return undefined;
		});
	}
	return names;
}

/** Returns the names that the code reads or writes, without property names and holes. */
function namesIn(nodes: readonly SyntaxNode[]): ReadonlySet<string> {
	const names = new Set<string>();
	for (const root of nodes) {
		walk(root, (node, parent) => {
			const name = identifierName(node);
			if (name === undefined || name.startsWith("$")) return undefined;
			const isKey =
				parent !== undefined &&
				!parent["computed"] &&
				(parent["property"] === node || (parent["key"] === node && parent["value"] !== node));
			if (!isKey) names.add(name);
			return undefined;
		});
	}
	return names;
}
