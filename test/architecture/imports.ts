// Finds every way in which a module can name another one. It reads the syntax tree, because regular expressions would miss some.
import {
	childNodes,
	identifierName,
	isNode,
	lineOf,
	literalText,
	memberName,
	parseSource,
	type SyntaxNode,
	walk,
} from "./syntax-tree.ts";

export interface ImportReference {
	readonly line: number;
	/** Undefined if the specifier is known only at run time. */
	readonly specifier: string | undefined;
	/** Whether it is erased before the program runs. */
	readonly typeOnly: boolean;
	/** Whether it uses `import()`, which loads the module at run time. */
	readonly lazy: boolean;
	/** The names that a static import or re-export takes. Undefined for all names, and for forms without names. */
	readonly names: readonly string[] | undefined;
}

export function findImports(path: string, text: string): ImportReference[] {
	const found: ImportReference[] = [];
	walk(parseSource(path, text), (node, parent) => {
		const reference = staticReference(node) ?? dynamicReference(node, parent);
		const lazy = node.type === "ImportExpression";
		if (reference) found.push({ line: lineOf(text, node), ...reference, lazy });
		return undefined;
	});
	return found;
}

type Reference = Omit<ImportReference, "line" | "lazy">;

function staticReference(node: SyntaxNode): Reference | undefined {
	switch (node.type) {
		case "ImportDeclaration":
		case "ExportNamedDeclaration": {
			if (!isNode(node["source"])) return undefined;
			const specifiers = childNodes(node["specifiers"]);
			return {
				specifier: literalText(node["source"]),
				// `import { type A }` is not erased: with verbatimModuleSyntax it still loads the module.
				typeOnly: node["importKind"] === "type" || node["exportKind"] === "type",
				names: importedNames(node, specifiers),
			};
		}
		case "ExportAllDeclaration":
			return { specifier: literalText(node["source"]), typeOnly: node["exportKind"] === "type", names: undefined };
		case "TSImportType":
			return { specifier: literalText(node["source"] ?? node["argument"]), typeOnly: true, names: undefined };
		case "TSExternalModuleReference":
			return { specifier: literalText(node["expression"]), typeOnly: false, names: undefined };
		default:
			return undefined;
	}
}

function importedNames(node: SyntaxNode, specifiers: readonly SyntaxNode[]): string[] | undefined {
	const names = specifiers.map((specifier) => {
		const name = node.type === "ImportDeclaration" ? specifier["imported"] : specifier["local"];
		return identifierName(name) ?? literalText(name);
	});
	return names.every((name) => name !== undefined) ? names : undefined;
}

function dynamicReference(node: SyntaxNode, parent: SyntaxNode | undefined): Reference | undefined {
	const to = (target: unknown): Reference => ({ specifier: literalText(target), typeOnly: false, names: undefined });
	switch (node.type) {
		case "ImportExpression":
			return to(node["source"]);
		case "CallExpression": {
			const [target] = childNodes(node["arguments"]);
			const { callee } = node;
			if (identifierName(callee) === "require") return to(target);
			if (!isNode(callee) || callee.type !== "MemberExpression") return undefined;
			const name = memberName(callee);
			const isRequire = identifierName(callee["object"]) === "require";
			const isResolve = name === "resolve" && (isRequire || isImportMeta(callee["object"]));
			return isResolve || name === "require" ? to(target) : undefined;
		}
		// Code that is loaded by its URL, such as a worker. URLs of other files are not imports.
		case "NewExpression": {
			const [target, base] = childNodes(node["arguments"]);
			const isModule = /\.[cm]?[jt]sx?$/.test(literalText(target) ?? "");
			const isBesideModule = base?.type === "MemberExpression" && isImportMeta(base["object"]);
			return identifierName(node["callee"]) === "URL" && isModule && isBesideModule ? to(target) : undefined;
		}
		// If `require` is passed on, or `createRequire` or `getBuiltinModule` appears at all, the imports cannot be known.
		case "Identifier": {
			const isProperty = parent?.type === "Property" && parent["key"] === node && parent["value"] !== node;
			const isMember = parent?.type === "MemberExpression" && parent["property"] === node && !parent["computed"];
			if (node["name"] === "createRequire" || node["name"] === "getBuiltinModule") return to(undefined);
			const isCalled = parent?.type === "CallExpression" && parent["callee"] === node;
			const isObject = parent?.type === "MemberExpression" && parent["object"] === node;
			const isPlain = !isProperty && !isMember && !isCalled && !isObject;
			return node["name"] === "require" && isPlain ? to(undefined) : undefined;
		}
		default:
			return undefined;
	}
}

function isImportMeta(node: unknown): boolean {
	return isNode(node) && node.type === "MetaProperty" && identifierName(node["meta"]) === "import";
}
