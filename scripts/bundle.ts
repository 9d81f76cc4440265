// Bundles the plugin and the agent into one folder, with the licences of all that is in them.
import { writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, relative, sep } from "node:path";
import util from "node:util";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { licenceNotices, packagesOf } from "./licence-notices.ts";
import { repositoryRoot } from "./repository-root.ts";

/**
 * Node's own modules as plain objects. By an import statement Node reads every property of node:http once, one of which loads
 * its whole fetch: 13 MB of memory and 90 ms at each start.
 */
const plainBuiltins: Plugin = {
	name: "plain-builtins",
	setup(bundler) {
		bundler.onResolve({ filter: /^[a-z\d:/_]+$/ }, ({ path, kind }) => {
			const isImport = kind === "import-statement" || kind === "dynamic-import";
			return isImport && isBuiltin(path) ? { path, namespace: "builtin" } : undefined;
		});
		bundler.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
			contents: /^(node:)?util$/.test(path)
				? utilByName
				: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
			loader: "js",
		}));
	},
};

/**
 * What esbuild imports from a plain object it looks at as a whole, and node:util then loads colours, streams and worker threads. By names of
 * its own, read without effects, nothing is read but what somebody imports.
 */
const utilByName = [
	'const util = process.getBuiltinModule("node:util"), read = (name) => util[name];',
	"export default util;",
	...Object.keys(util).map((name) => `export const ${name} = /* @__PURE__ */ read("${name}");`),
].join("\n");

/**
 * grpc-js reads .proto files for its debugging service (channelz), which nothing of ours serves. Without the reader, and protobufjs under
 * it, a sixth of what a drain loads is gone.
 */
const withoutProtoReader: Plugin = {
	name: "without-proto-reader",
	setup(bundler) {
		bundler.onResolve({ filter: /^@grpc\/proto-loader$/ }, ({ path }) => ({ path, namespace: "left-out" }));
		bundler.onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
			contents: `throw new Error(${JSON.stringify(`${path} is not in this bundle`)});`,
			loader: "js",
		}));
	},
};

/** Ink asks for React's developer tools where DEV=true says so: nobody has them here. */
const withoutDeveloperTools: Plugin = {
	name: "without-developer-tools",
	setup(bundler) {
		bundler.onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, namespace: "nothing" }));
		bundler.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "", loader: "js" }));
	},
};

/** What tests of crashes need, in the place of the files that do nothing. */
const failPointsOfTests: Plugin = {
	name: "fail-points",
	setup(bundler) {
		bundler.onResolve({ filter: /\/fail-points\.ts$/ }, ({ resolveDir }) => ({
			path: join(
				repositoryRoot,
				"test",
				"fail-points",
				`${relative(repositoryRoot, resolveDir).split(sep)[0]}-fail-points.ts`,
			),
		}));
	},
};

const common: BuildOptions = {
	absWorkingDir: repositoryRoot,
	bundle: true,
	platform: "node",
	target: "node24",
	format: "esm",
	minify: true,
	// Names stay what they are in the source: errors and metrics show them.
	keepNames: true,
	legalComments: "none",
	charset: "ascii",
	// CommonJS packages in the bundle ask for these.
	banner: {
		js: [
			'import { createRequire as createRequireForBundle } from "node:module";',
			"const require = createRequireForBundle(import.meta.url);",
			"const __filename = import.meta.filename, __dirname = import.meta.dirname;",
		].join(""),
	},
	logLevel: "warning",
};

export interface BundleOptions {
	readonly folder: string;
	/** For tests of crashes alone. */
	readonly failPoints: boolean;
}

export interface Bundle {
	/** What there is to say of each program: its file and its size. */
	readonly lines: readonly string[];
	/** The files that are in it, by their path from the root. */
	readonly inputs: readonly string[];
}

/** The plugin in chunks that load when a command needs them, because kubectl starts it anew each time; the agent in one file. */
export async function bundle({ folder, failPoints }: BundleOptions): Promise<Bundle> {
	const options: BuildOptions = {
		...common,
		plugins: [plainBuiltins, withoutProtoReader, withoutDeveloperTools, ...(failPoints ? [failPointsOfTests] : [])],
		outdir: folder,
		define: { "process.env.NODE_ENV": '"production"' },
	};
	const programs: { readonly name: string; readonly entry: string; readonly options: BuildOptions }[] = [
		{
			name: "kubectl-xpdb",
			entry: "plugin/start.ts",
			options: { splitting: true, chunkNames: "chunks/[name]-[hash]" },
		},
		{ name: "agent", entry: "agent/main.ts", options: { sourcemap: "linked" } },
	];
	const bundles = await Promise.all(
		programs.map(async (program): Promise<Bundle> => {
			const entryPoints = { [program.name]: program.entry };
			const { metafile } = await build({ ...options, ...program.options, entryPoints, metafile: true });
			const outputs = Object.entries(metafile.outputs).filter(([path]) => path.endsWith(".js"));
			const bytes = outputs.reduce((sum, [, output]) => sum + output.bytes, 0);
			const [path] = outputs.find(([, output]) => output.entryPoint === program.entry) ?? [];
			// Those of which nothing was left are not in it.
			const inputs = outputs.flatMap(([, output]) =>
				Object.entries(output.inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
			);
			return { lines: [`${path} (${(bytes / 1024).toFixed(0)} KiB with its chunks)`], inputs };
		}),
	);
	const inputs = [...new Set(bundles.flatMap((each) => each.inputs))].toSorted();
	writeFileSync(join(folder, noticesFile), licenceNotices(packagesOf(inputs)));
	return { lines: bundles.flatMap(({ lines }) => lines), inputs };
}

export const noticesFile = "THIRD-PARTY-LICENSES";
