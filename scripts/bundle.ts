// Bundles the plugin and the agent into one folder, with the licences of all that is in them.
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join, relative, sep } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { licenceNotices, packagesOf } from "./licence-notices.ts";
import { repositoryRoot } from "./repository-root.ts";

/** Of these, gRPC and WebSockets use at most a function, for names and compression that hardly a call of ours has; they load them all the same. */
const lateBuiltins: ReadonlySet<string> = new Set(["dns", "zlib"]);
const loadsThem = /[\\/]node_modules[\\/](@grpc[\\/]grpc-js|ws)[\\/]/;

/**
 * Node's own modules by way of the objects that they are. By an import statement Node reads every property of node:http once, one of which
 * loads its whole fetch: 13 MB of memory and 90 ms at each start. And what esbuild imports from a plain object it copies, property by
 * property, into each file that does: of node:util that loads colours, streams and worker threads. So nothing is read but what somebody
 * imports by name; who requires a module, or imports it while it runs, gets the object itself.
 */
const plainBuiltins: Plugin = {
	name: "plain-builtins",
	setup(bundler) {
		bundler.onResolve({ filter: /^[a-z\d:/_]+$/ }, ({ path, kind, importer }) => {
			if (!isBuiltin(path)) return undefined;
			if (kind === "require-call" && lateBuiltins.has(path) && loadsThem.test(importer))
				return { path, namespace: "late-builtin" };
			if (kind === "import-statement") return { path, namespace: "builtin-by-name" };
			return kind === "dynamic-import" || kind === "require-call" ? { path, namespace: "builtin" } : undefined;
		});
		bundler.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
			contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
			loader: "js",
		}));
		bundler.onLoad({ filter: /.*/, namespace: "late-builtin" }, ({ path }) => ({
			contents: `module.exports = new Proxy({}, { get: (_, name) => process.getBuiltinModule(${JSON.stringify(path)})[name] });`,
			loader: "js",
		}));
		bundler.onLoad({ filter: /.*/, namespace: "builtin-by-name" }, ({ path }) => ({
			contents: builtinByName(path),
			loader: "js",
		}));
	},
};

function builtinByName(path: string): string {
	const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== "default");
	return [
		`const builtin = process.getBuiltinModule(${JSON.stringify(path)}), of = (name) => builtin[name];`,
		"export default builtin;",
		...names.map((name) => `const $${name} = /* @__PURE__ */ of("${name}"); export { $${name} as ${name} };`),
	].join("\n");
}

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

/**
 * yargs in a program that is one file and has a help of its own, with a shim of the platform as yargs has one for browsers: no help in columns
 * (its tables of wide characters take 25 ms to load), no package.json from above the working folder, no words in other languages from a folder.
 * Nor does it check our calls of it at each start: types do.
 */
export const yargsAlone: Plugin = {
	name: "yargs-alone",
	setup(bundler) {
		bundler.onLoad({ filter: /[\\/]yargs[\\/]lib[\\/]platform-shims[\\/]esm\.mjs$/ }, () => ({
			contents: yargsPlatform,
			loader: "js",
		}));
		bundler.onLoad({ filter: /[\\/]yargs[\\/]build[\\/]lib[\\/]argsert\.js$/ }, () => ({
			contents: "export function argsert() {}",
			loader: "js",
		}));
	},
};

const yargsPlatform = `
import { format, inspect } from "node:util";
import path from "node:path";
import Parser from "yargs-parser";
import { getProcessArgvBin } from "../../build/lib/utils/process-argv.js";
const no = (what) => () => { throw new Error("yargs has no " + what + " in this bundle"); };
const nothing = () => undefined;
export default {
	assert: { notStrictEqual: nothing, strictEqual: nothing },
	cliui: no("columns"),
	findUp: nothing,
	getCallerFile: no("folders of commands"),
	getEnv: (name) => process.env[name],
	getProcessArgvBin,
	inspect,
	mainFilename: "kubectl-xpdb",
	Parser,
	path,
	process: { argv: () => process.argv, cwd: process.cwd, emitWarning: process.emitWarning, execPath: () => process.execPath,
		exit: process.exit, nextTick: process.nextTick, stdColumns: null },
	readFileSync: () => "{}",
	readdirSync: no("folders of commands"),
	require: no("modules"),
	stringWidth: no("columns"),
	y18n: {
		__: format,
		__n: (one, many, count, ...values) => format(count === 1 ? one : many, ...values),
		getLocale: () => "en_US",
		setLocale: nothing,
		updateLocale: nothing,
	},
};
`;

/**
 * Ink measures everything it draws by a library of wide characters, which takes 20 ms to load; what is drawn is hardly ever more than ASCII,
 * whose characters take a column each. So it is loaded when there is anything else to measure.
 */
const lateStringWidth: Plugin = {
	name: "late-string-width",
	setup(bundler) {
		bundler.onResolve({ filter: /^string-width$/ }, async ({ path, kind, resolveDir }) => {
			if (kind !== "import-statement") return undefined;
			const { path: real } = await bundler.resolve(path, { kind: "require-call", resolveDir });
			// By a name of its own for each version, which is no file of the package.
			return { path: real.replaceAll("node_modules", ""), namespace: "late-string-width", pluginData: real };
		});
		bundler.onLoad({ filter: /.*/, namespace: "late-string-width" }, ({ pluginData }) => ({
			contents: [
				"let real;",
				"export default function stringWidth(text, options) {",
				"	if (typeof text === 'string' && /^[\\x20-\\x7e]*$/.test(text)) return text.length;",
				`	return (real ??= require(${JSON.stringify(pluginData)}).default)(text, options);`,
				"}",
			].join("\n"),
			loader: "js",
			resolveDir: repositoryRoot,
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

/** Of all that is shipped. */
export const shippedPlugins: readonly Plugin[] = [
	plainBuiltins,
	withoutProtoReader,
	withoutDeveloperTools,
	lateStringWidth,
];

export const shippedOptions: BuildOptions = {
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
	define: { "process.env.NODE_ENV": '"production"' },
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
	/** Those of the agent alone. */
	readonly agentInputs: readonly string[];
}

/**
 * The plugin as a small start, a program whose compiled code is kept (plugin/kubernetes/kept-script.ts), and parts that few calls need; the
 * agent in one file.
 */
export async function bundle({ folder, failPoints }: BundleOptions): Promise<Bundle> {
	const options: BuildOptions = {
		...shippedOptions,
		plugins: [...shippedPlugins, ...(failPoints ? [failPointsOfTests] : [])],
		outdir: folder,
	};
	const [agent, plugin] = await Promise.all([
		buildOne("agent/main.ts", { ...options, entryNames: "agent", sourcemap: "linked" }),
		bundlePlugin(options),
	]);
	// By the name that a machine or an image has it under.
	copyFileSync(join(folder, "agent.js"), join(folder, "xpdb-agent"));
	chmodSync(join(folder, "xpdb-agent"), 0o755);
	const built = [...plugin, agent];
	const inputs = [...new Set(built.flatMap((each) => [...each.inputs]))].toSorted();
	writeFileSync(join(folder, noticesFile), licenceNotices("kubectl-xpdb and xpdb-agent have", packagesOf(inputs)));
	const sum = (files: readonly Built[]): string =>
		(files.reduce((bytes, file) => bytes + file.bytes, 0) / 1024).toFixed(0);
	const line = (name: string, files: readonly Built[]): string =>
		`${relative(repositoryRoot, join(folder, name))} (${sum(files)} KiB with its chunks)`;
	const lines = [line("kubectl-xpdb.js", plugin), line("agent.js", [agent])];
	return { lines, inputs, agentInputs: [...agent.inputs].toSorted() };
}

/** Loaded by few calls: client-node for OIDC and proxies, the screens, whose layout needs a module that awaits, and what signs certificates. */
const parts = ["@kubernetes/client-node", "../ui/screens.ts", "./sign-certificates.ts"];

/** The layout of the screens fetches its own code out of a data: URL where there is a fetch, and loading Node's takes longer than all else. */
export const screenDefines: Readonly<Record<string, string>> = { fetch: "undefined" };

async function bundlePlugin(options: BuildOptions): Promise<readonly Built[]> {
	const chunk = { ...options, entryNames: "chunks/[name]-[hash]" };
	const clientNode = await buildOne("@kubernetes/client-node", chunk);
	const screen = await buildOne("plugin/ui/screens.ts", { ...chunk, define: { ...chunk.define, ...screenDefines } });
	const certificates = await buildOne("plugin/install/sign-certificates.ts", chunk);
	const fileOf = new Map([
		[parts[0], clientNode],
		[parts[1], screen],
		[parts[2], certificates],
	]);
	const partsOutside: Plugin = {
		name: "parts-outside",
		setup(bundler) {
			bundler.onResolve({ filter: /.*/ }, ({ path, kind }) => {
				const part = kind === "dynamic-import" ? fileOf.get(path) : undefined;
				return part && { path: `./chunks/${basename(part.path)}`, external: true };
			});
		},
	};
	const program = await buildOne("plugin/main.ts", {
		...chunk,
		format: "cjs",
		outExtension: { ".js": ".cjs" },
		plugins: [partsOutside, yargsAlone, ...(options.plugins ?? [])],
		define: { ...options.define, "import.meta.url": "bundleUrl" },
		// An expression, for plugin/start.ts to call.
		banner: {
			js: '(function (__filename, require, importPart) { const bundleUrl = require("node:url").pathToFileURL(__filename).href;',
		},
		footer: { js: "})" },
	});
	// A script that imports by itself makes Node warn of an experiment.
	const file = join(repositoryRoot, program.path);
	writeFileSync(file, readFileSync(file, "latin1").replaceAll('import("./chunks/', 'importPart("./chunks/'));
	for (const part of [screen, certificates]) refuseSharedClasses(program, part);
	const bundled = `{ program: "./chunks/${basename(program.path)}", loaders: [require, (part) => import(part)] }`;
	const start = await buildOne("plugin/start.ts", {
		...options,
		entryNames: "kubectl-xpdb",
		banner: { js: `${shippedOptions.banner?.["js"] ?? ""} const bundled = ${bundled};` },
	});
	return [start, program, clientNode, screen, certificates];
}

/** What is in both is there twice at run time, and an instance of the one class is none of the other: nobody may ask. */
function refuseSharedClasses(program: Built, part: Built): void {
	const textOf = (input: string): string => readFileSync(join(repositoryRoot, input), "utf8");
	const own = [...program.inputs, ...part.inputs].filter((input) => /^(plugin|disruption|proto)\//.test(input));
	const asked = new Set(
		own.flatMap((input) => [...textOf(input).matchAll(/\binstanceof (\w+)/g)].map(([, name]) => name)),
	);
	const shared = own.filter((input) => program.inputs.has(input) && part.inputs.has(input));
	const classes = shared.flatMap((input) => [...textOf(input).matchAll(/^(?:export )?(?:abstract )?class (\w+)/gm)]);
	const problems = classes.flatMap(([, name]) => (name !== undefined && asked.has(name) ? [name] : []));
	if (problems.length > 0) throw new Error(`${basename(part.path)} and the program both have ${problems.join(", ")}`);
}

interface Built {
	/** From the root. */
	readonly path: string;
	readonly bytes: number;
	/** The files that are in it; those of which nothing was left are not. */
	readonly inputs: ReadonlySet<string>;
}

async function buildOne(entry: string, options: BuildOptions): Promise<Built> {
	const { metafile } = await build({ ...options, entryPoints: [entry], metafile: true });
	const [output] = Object.entries(metafile.outputs).filter(([path]) => !path.endsWith(".map"));
	if (!output) throw new Error(`nothing was made of ${entry}`);
	const [path, { bytes, inputs }] = output;
	const used = Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : []));
	return { path, bytes, inputs: new Set(used) };
}

export const noticesFile = "THIRD-PARTY-LICENSES";
