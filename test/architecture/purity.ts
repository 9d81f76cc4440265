// Checks that a file of the domain or of pureFiles reads no clock, randomness, environment or file. It may use only names that it declares
// or imports, and the pure globals below.
import {
	childNodes,
	identifierName,
	isNode,
	lineOf,
	memberName,
	parseSource,
	type SyntaxNode,
	walk,
} from "./syntax-tree.ts";

/** Globals whose results do not depend on the machine or the time. */
const pureGlobals = new Set(
	(
		"undefined NaN Infinity Array Map Set WeakMap WeakSet Object String Number Boolean BigInt Symbol RegExp JSON Promise " +
		"Error TypeError RangeError SyntaxError AggregateError AbortController DOMException structuredClone " +
		"encodeURIComponent decodeURIComponent parseInt parseFloat isNaN isFinite TextEncoder TextDecoder Uint8Array"
	).split(" "),
);

/** Globals of which only these members are pure. */
const pureMembers: Readonly<Record<string, readonly string[]>> = {
	Math: ["abs", "ceil", "floor", "max", "min", "round", "sign", "trunc"],
	Date: ["parse", "UTC"],
	AbortSignal: ["abort", "any"],
	Buffer: ["byteLength"],
};

/** Methods whose results depend on the machine's language. */
const localeMethods = new Set(["localeCompare", "toLocaleString", "toLocaleUpperCase", "toLocaleLowerCase"]);

/** All globals of a Node module, including names that are not properties of globalThis. */
const hostGlobals = new Set([
	...Object.getOwnPropertyNames(globalThis),
	"require",
	"module",
	"exports",
	"arguments",
	"eval",
]);

/** TypeScript's nodes that contain code. All its other nodes are types, which are erased. */
const typescriptCode =
	/^TS(AsExpression|SatisfiesExpression|NonNullExpression|TypeAssertion|InstantiationExpression|Enum|Module|ParameterProperty|ExportAssignment|ImportEquals)/;

function isErased(node: SyntaxNode): boolean {
	return node.type.startsWith("TS") && !typescriptCode.test(node.type);
}

/** Returns one sentence for each breach, beginning with "file:line". */
export function findImpurities(path: string, text: string): string[] {
	const tree = parseSource(path, text);
	const declared = declaredNames(tree);
	const breaches: string[] = [];
	const report = (node: SyntaxNode, problem: string) => breaches.push(`${path}:${lineOf(text, node)} ${problem}`);
	walk(tree, (node, parent) => {
		if (isErased(node)) return "skip";
		if (node.type === "MetaProperty" && identifierName(node["meta"]) === "import") report(node, "uses import.meta");
		if (node.type === "ImportExpression") report(node, "imports while it runs");
		if (node.type === "MemberExpression") {
			const name = memberName(node);
			if (name && localeMethods.has(name)) report(node, `uses ${name}(), which depends on the machine's language`);
		}
		const name = identifierName(node);
		if (name === undefined || isPropertyName(node, parent)) return undefined;
		if (declared.has(name)) {
			// Such a name could hide the global from this check elsewhere in the file.
			if (hostGlobals.has(name) || name in pureMembers)
				report(node, `has its own "${name}", which hides a global: rename it`);
		} else if (name in pureMembers) {
			const member = parent?.type === "MemberExpression" && parent["object"] === node ? memberName(parent) : undefined;
			const isClassCheck = parent?.type === "BinaryExpression" && parent["operator"] === "instanceof";
			if (!isClassCheck && !(member && pureMembers[name]?.includes(member))) {
				report(node, `uses ${member ? `${name}.${member}` : name}`);
			}
		} else if (!pureGlobals.has(name)) {
			report(node, `uses ${name}`);
		}
		return undefined;
	});
	return [...new Set(breaches)];
}

function isPropertyName(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
	if (!parent) return false;
	if (parent.type === "MemberExpression") return parent["property"] === node && !parent["computed"];
	const isKeyed = /^(Property|MethodDefinition|PropertyDefinition|AccessorProperty|TSAbstract.*)$/.test(parent.type);
	if (isKeyed) return parent["key"] === node && !parent["computed"] && parent["value"] !== node;
	return /^(ImportSpecifier|ExportSpecifier|LabeledStatement|BreakStatement|ContinueStatement|ImportAttribute)$/.test(
		parent.type,
	);
}

/** Returns all names that the file declares, except types. */
function declaredNames(tree: SyntaxNode): Set<string> {
	const names = new Set<string>();
	const bind = (pattern: unknown) => {
		if (!isNode(pattern)) return;
		const name = identifierName(pattern);
		if (name !== undefined) names.add(name);
		for (const key of ["left", "argument", "value", "parameter"]) bind(pattern[key]);
		for (const key of ["elements", "properties"]) childNodes(pattern[key]).forEach(bind);
	};
	walk(tree, (node) => {
		if (isErased(node)) return "skip";
		bind(node["id"]);
		if (/Function/.test(node.type)) childNodes(node["params"]).forEach(bind);
		if (node.type === "CatchClause") bind(node["param"]);
		if (/^Import.*Specifier$/.test(node.type)) bind(node["local"]);
		return undefined;
	});
	return names;
}
