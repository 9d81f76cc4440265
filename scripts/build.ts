// `npm run build`: bundles the plugin and the agent into dist/. The plugin in chunks that load when a command needs them,
// because kubectl starts it anew each time; the agent, which starts once, in one file. `-- --test` builds both once more
// into dist/test/, with the fail points that tests of crashes need and no other build has.
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { root } from "./run-command.ts";

/**
 * Node's own modules as plain objects. By an import statement Node reads every property of node:http once, one of which loads
 * its whole fetch: 13 MB of memory and 90 ms at each start.
 */
const plainBuiltins: Plugin = {
	name: "plain-builtins",
	setup(bundler) {
		bundler.onResolve({ filter: /^[a-z:/_]+$/ }, ({ path, kind }) => {
			const isImport = kind === "import-statement" || kind === "dynamic-import";
			return isImport && isBuiltin(path) ? { path, namespace: "builtin" } : undefined;
		});
		bundler.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
			contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
			loader: "js",
		}));
	},
};

const common: BuildOptions = {
	absWorkingDir: root,
	bundle: true,
	plugins: [plainBuiltins],
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

async function buildInto(folder: string, { failPoints }: { readonly failPoints: boolean }): Promise<void> {
	const options: BuildOptions = {
		...common,
		outdir: join(root, folder),
		define: { "process.env.NODE_ENV": '"production"', XPDB_FAIL_POINTS: String(failPoints) },
	};
	const programs: { readonly name: string; readonly entry: string; readonly options: BuildOptions }[] = [
		{
			name: "kubectl-xpdb",
			entry: "plugin/main.ts",
			options: { splitting: true, chunkNames: "chunks/[name]-[hash]" },
		},
		{ name: "agent", entry: "agent/main.ts", options: { sourcemap: "linked" } },
	];
	await Promise.all(
		programs.map(async (program) => {
			const entryPoints = { [program.name]: program.entry };
			const { metafile } = await build({ ...options, ...program.options, entryPoints, metafile: true });
			const outputs = Object.entries(metafile.outputs).filter(([path]) => path.endsWith(".js"));
			const bytes = outputs.reduce((sum, [, output]) => sum + output.bytes, 0);
			const [path] = outputs.find(([, output]) => output.entryPoint) ?? [];
			console.log(`${path} (${(bytes / 1024).toFixed(0)} KiB with its chunks)`);
		}),
	);
}

try {
	await buildInto("dist", { failPoints: false });
	if (process.argv.includes("--test")) await buildInto("dist/test", { failPoints: true });
} catch (error) {
	// esbuild has printed its own findings, with the lines that they are about.
	if (!(error instanceof Error && "errors" in error)) throw error;
	process.exitCode = 1;
}
