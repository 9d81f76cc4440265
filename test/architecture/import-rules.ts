// The rules of what the files of each folder may import, and functions that check them.
import { posix } from "node:path";
import { findImports, type ImportReference } from "./imports.ts";
import { judgeRooms, pureFiles } from "./rooms.ts";

/** Source texts by their path from the repository root, with "/". */
export type SourceTree = ReadonlyMap<string, string>;

interface FolderRule {
	/** Our folders that it may import from, besides itself. */
	readonly folders: readonly string[];
	/** Packages of npm. "node:*" means all modules of Node. */
	readonly packages: readonly string[];
	/** Further packages, only for `import type`, which is erased. */
	readonly types?: readonly string[];
}

const rules: Readonly<Record<string, FolderRule>> = {
	disruption: { folders: [], packages: [], types: ["@kubernetes/client-node"] },
	proto: {
		folders: ["disruption"],
		packages: ["node:*", "@grpc/grpc-js", "@bufbuild/protobuf"],
		types: ["@kubernetes/client-node"],
	},
	agent: {
		folders: ["disruption", "proto"],
		packages: [
			"node:*",
			"@bufbuild/protobuf",
			"@grpc/grpc-js",
			"@kubernetes/client-node",
			"pino",
			"prom-client",
			"yaml",
			"yargs",
		],
	},
	plugin: {
		folders: ["disruption", "proto"],
		packages: ["node:*", "@kubernetes/client-node", "@peculiar/x509", "ws", "yaml", "yargs"],
	},
	// Without agent and plugin, because the demonstration starts them as shipped programs.
	demo: {
		folders: ["disruption", "proto", "scripts"],
		packages: ["node:*", "@peculiar/x509", "jose", "rfc6902", "ws", "yaml", "yargs"],
	},
	scripts: { folders: [], packages: ["node:*", "esbuild", "vitest", "yaml"] },
};

/** These files load Node's modules for bundled code, whose imports are checked in its sources. */
const startsBundles: ReadonlySet<string> = new Set(["scripts/bundle.ts", "scripts/executable/start-program.ts"]);

/** Packages that only one folder may use, whatever `rules` says. */
const onlyIn: Readonly<Record<string, string>> = {
	ink: "plugin/ui",
	react: "plugin/ui",
	"string-width": "plugin/ui",
};

/** Functions that the domain may use from modules that are otherwise forbidden to it. */
const pureFunctions: Readonly<Record<string, readonly string[]>> = { "node:crypto": ["createHash"] };

/** Returns one sentence for each breach, beginning with "file:line". */
export function findBreaches(tree: SourceTree): string[] {
	const breaches: string[] = [];
	const graph = new Map<string, string[]>();
	for (const [file, text] of tree) {
		const targets: string[] = [];
		graph.set(file, targets);
		for (const reference of findImports(file, text)) {
			const target = targetOf(file, reference.specifier);
			if (target?.kind === "file") targets.push(target.path);
			const problem = judge(file, reference, target, tree);
			if (problem) breaches.push(`${file}:${reference.line} ${problem}`);
		}
	}
	return [...breaches, ...findCycles(graph)];
}

type Target = { readonly kind: "file"; readonly path: string } | { readonly kind: "package"; readonly name: string };

function targetOf(file: string, specifier: string | undefined): Target | undefined {
	if (specifier === undefined) return undefined;
	if (specifier.startsWith(".")) return { kind: "file", path: posix.join(posix.dirname(file), specifier) };
	if (specifier.startsWith("node:")) return { kind: "package", name: specifier };
	const parts = specifier.split("/");
	return { kind: "package", name: parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/") };
}

function judge(
	file: string,
	reference: ImportReference,
	target: Target | undefined,
	tree: SourceTree,
): string | undefined {
	const folder = topFolder(file);
	if (folder === "test" || folder === "") return undefined;
	if (!target && startsBundles.has(file)) return undefined;
	if (!target) return "imports what only the running program knows";
	return target.kind === "file"
		? judgeFile(file, target.path, reference, tree)
		: judgePackage(file, folder, target.name, reference);
}

/** The manifests of agent/deploy/, as the plugin contains them. */
const deployTexts = "plugin/install/deploy-texts.json";

function judgeFile(file: string, path: string, reference: ImportReference, tree: SourceTree): string | undefined {
	const folder = topFolder(file);
	const other = topFolder(path);
	if (path === "package.json" && folder !== "disruption") return undefined;
	if (path === deployTexts && file.startsWith("plugin/install/")) return undefined;
	if (!tree.has(path)) return `imports ${path}, which is no source file`;
	if (other !== folder && !rules[folder]?.folders.includes(other))
		return `imports ${path}: ${folder} may not import ${other}`;
	if (pureFiles.has(file) && other !== "disruption" && !pureFiles.has(path))
		return `imports ${path}: what is pure may import what is pure only`;
	const wrongWay = judgeRooms(file, path);
	if (wrongWay) return wrongWay;
	const isView = path.startsWith("plugin/ui/") && !file.startsWith("plugin/ui/");
	if (isView && !reference.lazy && !reference.typeOnly) return `imports ${path}: screens are loaded when one is drawn`;
	return undefined;
}

function judgePackage(file: string, folder: string, name: string, reference: ImportReference): string | undefined {
	const home = onlyIn[name];
	if (home) return file.startsWith(`${home}/`) ? undefined : `imports ${name}: only ${home} may`;
	const { packages = [], types = [] } = rules[pureFiles.has(file) ? "disruption" : folder] ?? {};
	if (packages.includes(name.startsWith("node:") ? "node:*" : name)) return undefined;
	if (reference.typeOnly && types.includes(name)) return undefined;
	const allowed = folder === "disruption" ? pureFunctions[name] : undefined;
	if (allowed && reference.names?.length && reference.names.every((each) => allowed.includes(each))) return undefined;
	return `imports ${name}: ${folder} may not`;
}

function topFolder(path: string): string {
	return path.includes("/") ? (path.split("/")[0] ?? "") : "";
}

/** Finds cycles by depth-first search: at least one if there are any. Type imports count, because they also tie files together. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
	const cycles: string[] = [];
	const state = new Map<string, "open" | "done">();
	const visit = (file: string, path: readonly string[]) => {
		if (state.get(file) === "done") return;
		if (state.get(file) === "open") {
			const cycle = [...path.slice(path.indexOf(file)), file];
			cycles.push(`${file}:1 is in a cycle: ${cycle.join(" -> ")}`);
			return;
		}
		state.set(file, "open");
		for (const target of graph.get(file) ?? []) if (graph.has(target)) visit(target, [...path, file]);
		state.set(file, "done");
	};
	for (const file of graph.keys()) visit(file, []);
	return cycles;
}
