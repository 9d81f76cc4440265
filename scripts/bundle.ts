// Bundles the plugin and the agent into one folder, with the licences of all bundled packages.
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join, relative, sep } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { licenceNotices, packagesOf } from "./licence-notices.ts";
import { repositoryRoot } from "./repository-root.ts";

/** gRPC and WebSockets load these at once, for host names and compression. Few of our calls need them. */
const lateBuiltins: ReadonlySet<string> = new Set(["dns", "zlib"]);
const loadsThem = /[\\/]node_modules[\\/](@grpc[\\/]grpc-js|ws)[\\/]/;

/**
 * Gives the bundle Node's own modules as objects. On an import statement, Node reads every property of node:http once. One of these loads
 * Node's whole fetch: 13 MB of memory and 90 ms at each start. esbuild copies a plain object, property by property, into each file that
 * imports it. For node:util, that loads colours, streams and worker threads.
 *
 * So only properties that a file imports by name are read. A file that requires a module, or imports it at run time, gets the object
 * itself.
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
 * grpc-js reads .proto files for its debugging service (channelz), which we do not serve. The reader and its protobufjs are a sixth of
 * what a drain loads, so they are left out.
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
 * yargs for a program that is one file and has its own help, with a shim of the platform like the one that yargs has for browsers. The shim
 * has no help in columns (its tables of wide characters take 25 ms to load). It reads no package.json above the working folder, and no
 * translations from a folder. yargs also does not check our calls of it at each start, because types do.
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
 * Ink measures everything that it draws with a library of wide characters, which takes 20 ms to load. Screens rarely contain more than
 * ASCII, whose characters take one column each. So the library is loaded only to measure other text.
 */
const lateStringWidth: Plugin = {
	name: "late-string-width",
	setup(bundler) {
		bundler.onResolve({ filter: /^string-width$/ }, async ({ path, kind, resolveDir }) => {
			if (kind !== "import-statement") return undefined;
			const { path: real } = await bundler.resolve(path, { kind: "require-call", resolveDir });
			// A separate name for each version of the package, which is not the path of a file.
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

/** Ink loads React's developer tools if DEV=true is set. They are not installed here. */
const withoutDeveloperTools: Plugin = {
	name: "without-developer-tools",
	setup(bundler) {
		bundler.onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, namespace: "nothing" }));
		bundler.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "", loader: "js" }));
	},
};

/** The fail points that tests of crashes need, in place of the files that do nothing. */
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

/** esbuild's plugins for everything that is shipped. */
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
	// Names stay as in the source, because errors and metrics show them.
	keepNames: true,
	legalComments: "none",
	charset: "ascii",
	// CommonJS packages in the bundle need these.
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
	/** Only for tests of crashes. */
	readonly failPoints: boolean;
}

export interface Bundle {
	/** One line for each program: its file and its size. */
	readonly lines: readonly string[];
	/** The files in the bundle, by their path from the root. */
	readonly inputs: readonly string[];
	/** The files of the agent alone. */
	readonly agentInputs: readonly string[];
}

/**
 * Bundles the agent into one file. Bundles the plugin into a small start, a program whose compiled code is kept
 * (plugin/kubernetes/kept-script.ts), and parts that few calls need.
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
	// A copy with the program's own name, for people who run it.
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

/**
 * Parts that few calls load: client-node for OIDC and proxies, the screens (their layout library awaits at the top level, which only a
 * module can do), and the certificates.
 */
const parts = ["@kubernetes/client-node", "../ui/screens.ts", "./sign-certificates.ts"];

/**
 * If there is a fetch, the screens' layout fetches its own code from a data: URL. Loading Node's fetch takes longer than everything else.
 */
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
		// Makes the program an expression whose value plugin/start.ts calls.
		banner: {
			js: '(function (__filename, require, importPart) { const bundleUrl = require("node:url").pathToFileURL(__filename).href;',
		},
		footer: { js: "})" },
	});
	// The program runs as a vm.Script. There, import() fails without importModuleDynamically, and Node's default loader for it prints an
	// ExperimentalWarning.
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

/**
 * Code in both bundles exists twice at run time. An instance of one copy of a class is not an instance of the other. So a class in both
 * that `instanceof` tests is refused.
 */
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
	/** Path from the root. */
	readonly path: string;
	readonly bytes: number;
	/** The files in the output, without files of which nothing was left. */
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
