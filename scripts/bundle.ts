// Bundles the plugin and the agent into one folder, with the licences of all bundled packages.
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join, relative, sep } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { licenceNotices, packagesOf } from "./licence-notices.ts";
import { repositoryRoot } from "./repository-root.ts";

/** grpc-js and ws load these at the start, but few calls use them. */
const lateBuiltins: ReadonlySet<string> = new Set(["dns", "zlib"]);
const loadsThem = /[\\/]node_modules[\\/](@grpc[\\/]grpc-js|ws)[\\/]/;

/**
 * Loads Node's built-in modules without reading properties that the bundle does not use. An import statement makes Node read every property
 * of node:http, and one of them loads all of fetch: 13 MB of memory and 90 ms at each start. esbuild's import of a CommonJS module also
 * reads every property. For node:util, that loads colours, streams and worker threads.
 *
 * So an import statement reads only the names that its file uses. require() and import() get the module itself.
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
 * grpc-js loads a reader of .proto files for its debugging service (channelz), which xpdb does not serve. The reader and its protobufjs are
 * a sixth of what a drain loads.
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
 * Bundles yargs with a platform shim like the one that yargs has for browsers. The shim reads no package.json and no translations, and has
 * no help in columns, whose tables of wide characters take 25 ms to load. argsert(), which checks calls of yargs at run time, is empty,
 * because types check them.
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
 * Ink measures text with string-width, which takes 20 ms to load. Printable ASCII takes one column for each character, so the library is
 * loaded only for other text.
 */
const lateStringWidth: Plugin = {
	name: "late-string-width",
	setup(bundler) {
		bundler.onResolve({ filter: /^string-width$/ }, async ({ path, kind, resolveDir }) => {
			if (kind !== "import-statement") return undefined;
			const { path: real } = await bundler.resolve(path, { kind: "require-call", resolveDir });
			// Each version of the package needs a name of its own. Without "node_modules" in it, packagesOf() does not take the name for a file.
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

/** Replaces each fail-points.ts, which does nothing, with the one for crash tests. */
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
	readonly failPoints: boolean;
}

export interface Bundle {
	/** One line for each program: its file and its size. */
	readonly lines: readonly string[];
	/** Paths of the bundled source files, from the root. */
	readonly inputs: readonly string[];
	readonly agentInputs: readonly string[];
}

/**
 * Bundles the agent into one file. Bundles the plugin into a start file, a program whose compiled code is cached
 * (plugin/kubernetes/kept-script.ts), and chunks that few calls load.
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
	// For people who run the agent by its own name.
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
 * Chunks that few calls load: client-node for OIDC and proxies, the screens, and the code that signs certificates. The screens must be a
 * module, because their layout library has a top-level await.
 */
const parts = ["@kubernetes/client-node", "../ui/screens.ts", "./sign-certificates.ts"];

/**
 * Hides fetch from the screens' layout library, which would fetch its own code from a data: URL. Loading Node's fetch takes longer than
 * everything else.
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
		// Makes the program a function expression, which plugin/start.ts calls.
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
 * Throws if both bundles contain a class that `instanceof` tests. Each bundle has its own copy of the class, and an instance of one copy is
 * not an instance of the other.
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
	/** Source files of which some code is in the output. */
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
