// Finds hooks that a module registers while it is loaded. Test files of a worker share modules, so only the first file that imports the
// module would get the hook.
import { identifierName, isNode, lineOf, memberName, parseSource, walk } from "./syntax-tree.ts";

const hooks = new Set(["beforeAll", "beforeEach", "afterEach", "afterAll", "aroundEach", "aroundAll"]);
const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression", "MethodDefinition"]);

/** Returns one sentence for each hook outside of all functions, beginning with "file:line". */
export function findSharedHooks(path: string, text: string): string[] {
	const found: string[] = [];
	walk(parseSource(path, text), (node) => {
		if (functions.has(node.type)) return "skip";
		if (node.type !== "CallExpression" || !isNode(node["callee"])) return undefined;
		const { callee } = node;
		const name = callee.type === "MemberExpression" ? memberName(callee) : identifierName(callee);
		if (name !== undefined && hooks.has(name)) {
			found.push(
				`${path}:${lineOf(text, node)} calls ${name}() where it is loaded: only the first test file would have it`,
			);
		}
		return undefined;
	});
	return found;
}
