// Finds the unions of answers, distinguished by `kind`, that the functions of some files return.
import { posix } from "node:path";
import { readSource } from "../architecture/source-files.ts";
import { childNodes, identifierName, isNode, parseSource, type SyntaxNode, walk } from "../architecture/syntax-tree.ts";

/** A type or a part of it, with the file whose declarations and imports resolve its names. */
interface TypeNode {
	readonly node: SyntaxNode;
	readonly file: string;
}

interface DeclaredTypes {
	readonly own: ReadonlyMap<string, SyntaxNode>;
	/** The original name and the file of each imported name. */
	readonly imported: ReadonlyMap<string, { readonly name: string; readonly file: string }>;
}

/** Types that stand for their first argument. */
const wrappers = new Set(["Promise", "Readonly", "Extract", "Exclude", "Omit", "Pick", "ReadonlyArray", "Awaited"]);

export class AnswerUnions {
	readonly #files = new Map<string, DeclaredTypes>();

	/** Returns the names of the unions, except those that are a named part of another one. */
	of(files: readonly string[]): readonly string[] {
		const found = new Map<string, TypeNode>();
		for (const file of files) {
			walk(parseSource(file, readSource(file)), (node) => {
				const { returnType } = node;
				if (isNode(returnType)) this.#collect({ node: returnType, file }, found);
				return undefined;
			});
		}
		const parts = [...found.values()].flatMap((union) => this.#members(union).map(({ node }) => nameOf(node)));
		return [...found.keys()].filter((name) => !parts.includes(name)).toSorted();
	}

	#collect(type: TypeNode, found: Map<string, TypeNode>): void {
		const { node, file } = type;
		const name = nameOf(node);
		if (node.type === "TSUnionType") {
			const answers = this.#members(type).filter((member) => this.#hasKind(member));
			for (const member of answers) this.#collect(member, found);
			if (answers.length > 1) found.set(textOf(type), type);
			return;
		}
		if (name === undefined) {
			for (const child of innerTypes(node)) this.#collect({ node: child, file }, found);
			return;
		}
		const [first] = argumentsOf(node);
		if (first && wrappers.has(name)) return this.#collect({ node: first, file }, found);
		const declared = this.#find(name, file);
		if (declared?.node.type !== "TSTypeAliasDeclaration") return;
		const aliased = { node: declared.node["typeAnnotation"] as SyntaxNode, file: declared.file };
		if (aliased.node.type !== "TSUnionType") return this.#collect(aliased, found);
		if (this.#members(aliased).filter((member) => this.#hasKind(member)).length > 1) found.set(name, aliased);
	}

	#members({ node, file }: TypeNode): readonly TypeNode[] {
		return childNodes(node["types"]).map((member) => ({ node: unwrapped(member), file }));
	}

	#hasKind({ node, file }: TypeNode): boolean {
		if (node.type === "TSTypeLiteral") return childNodes(node["members"]).some(isKind);
		if (node.type === "TSIntersectionType" || node.type === "TSUnionType") {
			return childNodes(node["types"]).some((part) => this.#hasKind({ node: unwrapped(part), file }));
		}
		const name = nameOf(node);
		if (name === undefined) return false;
		const [first] = argumentsOf(node);
		if (first && wrappers.has(name)) return this.#hasKind({ node: first, file });
		const declared = this.#find(name, file);
		if (declared?.node.type === "TSInterfaceDeclaration") {
			const body = declared.node["body"] as SyntaxNode;
			return childNodes(body["body"]).some(isKind);
		}
		const aliased = declared?.node["typeAnnotation"];
		return isNode(aliased) && declared !== undefined && this.#hasKind({ node: aliased, file: declared.file });
	}

	#find(name: string, file: string): TypeNode | undefined {
		const { own, imported } = this.#declaredIn(file);
		const node = own.get(name);
		if (node) return { node, file };
		const from = imported.get(name);
		return from && this.#find(from.name, from.file);
	}

	#declaredIn(file: string): DeclaredTypes {
		const known = this.#files.get(file);
		if (known) return known;
		const own = new Map<string, SyntaxNode>();
		const imported = new Map<string, { readonly name: string; readonly file: string }>();
		walk(parseSource(file, readSource(file)), (node) => {
			const name = identifierName(node["id"]);
			if (name !== undefined && /^TS(?:TypeAlias|Interface)Declaration$/.test(node.type)) own.set(name, node);
			if (node.type === "ImportDeclaration") {
				const source = String((node["source"] as SyntaxNode)["value"]);
				const path = posix.join(posix.dirname(file), source);
				for (const each of source.startsWith(".") ? childNodes(node["specifiers"]) : []) {
					const local = identifierName(each["local"]);
					if (local !== undefined) imported.set(local, { name: identifierName(each["imported"]) ?? local, file: path });
				}
			}
			return undefined;
		});
		const declared = { own, imported };
		this.#files.set(file, declared);
		return declared;
	}
}

function nameOf(node: SyntaxNode): string | undefined {
	return node.type === "TSTypeReference" ? identifierName(node["typeName"]) : undefined;
}

function argumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
	return isNode(node["typeArguments"]) ? childNodes(node["typeArguments"]["params"]).map(unwrapped) : [];
}

/** Returns the types inside an unnamed type: an object, a tuple or a list. */
function innerTypes(node: SyntaxNode): readonly SyntaxNode[] {
	const { typeAnnotation, elementType, types, members, elementTypes } = node;
	return [typeAnnotation, elementType, types, members, elementTypes].flatMap(childNodes).map(unwrapped);
}

function unwrapped(node: SyntaxNode): SyntaxNode {
	const { type, typeAnnotation } = node;
	return type === "TSParenthesizedType" && isNode(typeAnnotation) ? unwrapped(typeAnnotation) : node;
}

function isKind(member: SyntaxNode): boolean {
	return member.type === "TSPropertySignature" && identifierName(member["key"]) === "kind";
}

function textOf({ node, file }: TypeNode): string {
	return readSource(file).slice(node.start, node.end).replace(/\s+/g, " ");
}
