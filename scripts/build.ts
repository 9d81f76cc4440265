// `npm run build`: bundles the plugin and the agent into dist/. The plugin in chunks that load when a command needs them,
// because kubectl starts it anew each time; the agent, which starts once, in one file.
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { root } from "./run-command.ts";

const common: BuildOptions = {
	absWorkingDir: root,
	bundle: true,
	platform: "node",
	target: "node24",
	format: "esm",
	minify: true,
	// Names stay what they are in the source: errors and metrics show them.
	keepNames: true,
	legalComments: "none",
	charset: "ascii",
	outdir: join(root, "dist"),
	define: { "process.env.NODE_ENV": '"production"' },
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

async function buildAll(): Promise<void> {
	const results = await Promise.all([
		build({
			...common,
			entryPoints: { "kubectl-xpdb": "plugin/main.ts" },
			splitting: true,
			chunkNames: "chunks/[name]-[hash]",
			metafile: true,
		}),
		build({ ...common, entryPoints: { agent: "agent/main.ts" }, metafile: true }),
	]);
	for (const { metafile } of results) {
		const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
		const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint)?.[0];
		console.log(`${entry} (${(bytes / 1024).toFixed(0)} KiB with its chunks)`);
	}
}

try {
	await buildAll();
} catch (error) {
	// esbuild has printed its own findings, with the lines that they are about.
	if (!(error instanceof Error && "errors" in error)) throw error;
	process.exitCode = 1;
}
