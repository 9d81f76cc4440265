// Bundles the plugin as text for the single executable: one script, and separate parts that few calls load. These parts are the screens,
// the code that signs certificates, and a library for some logins.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { screenDefines, shippedOptions, shippedPlugins, yargsAlone } from "../bundle.ts";
import { repositoryRoot } from "../repository-root.ts";
import type { PartName } from "./start-program.ts";

/** Replaces plugin/ui/screens.ts in the plugin: takes its exports from the part "screens". */
export const screensStub = `export const { ${(await exportsOf("plugin/ui/screens.ts")).join(", ")} } = await loadPart("screens");`;

async function exportsOf(file: string): Promise<readonly string[]> {
	const { metafile } = await build({
		absWorkingDir: repositoryRoot,
		entryPoints: [file],
		format: "esm",
		metafile: true,
		write: false,
	});
	return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

const parts: Plugin = {
	name: "parts",
	setup(bundler) {
		bundler.onResolve({ filter: /.*/ }, ({ path, kind }) => {
			const name = kind === "dynamic-import" ? partOf.get(path) : undefined;
			return name && { path: name, namespace: "part" };
		});
		bundler.onLoad({ filter: /.*/, namespace: "part" }, ({ path }) => ({
			contents: path === "screens" ? screensStub : `module.exports = loadPart(${JSON.stringify(path)});`,
			loader: "js",
		}));
	},
};

const partOf: ReadonlyMap<string, PartName> = new Map([
	["@kubernetes/client-node", "client-node"],
	["./sign-certificates.ts", "certificates"],
	["../ui/screens.ts", "screens"],
]);

const options: BuildOptions = {
	...shippedOptions,
	banner: {},
	write: false,
	plugins: [...shippedPlugins, parts, yargsAlone],
	define: {
		...shippedOptions.define,
		// The code is not in a file.
		"import.meta.url": '"file:///kubectl-xpdb/plugin.js"',
		"import.meta.resolve": "undefined",
	},
};

/** Writes the loader and each part into the folder, as NAME.js. Returns the source files in them, as paths from the root. */
export async function writeProgramParts(folder: string): Promise<readonly string[]> {
	const [plugin, screens, clientNode, certificates, loader] = await Promise.all([
		bundleText({ format: "esm", entryPoints: ["plugin/main.ts"] }),
		bundleText({
			format: "esm",
			stdin: {
				contents: 'import * as screens from "./plugin/ui/screens.ts"; loaded(screens);',
				resolveDir: repositoryRoot,
			},
			define: { ...options.define, ...screenDefines },
		}),
		bundleText({
			format: "cjs",
			stdin: {
				contents: 'export { KubeConfig } from "@kubernetes/client-node";',
				resolveDir: repositoryRoot,
			},
		}),
		bundleText({ format: "cjs", entryPoints: ["plugin/install/sign-certificates.ts"] }),
		bundleText({ format: "cjs", entryPoints: ["scripts/executable/loader.ts"] }),
	]);
	const built = [plugin, screens, clientNode, certificates, loader];
	const texts: Readonly<Record<PartName | "loader", string>> = {
		// The module has a top-level await. In an async function, it can be a script.
		plugin: `(async function (require, loadPart) {${plugin.text.replace(/^#!.*/, "")}\n})`,
		screens: partText(
			`module.exports = new Promise((loaded, failed) => { (async () => {${screens.text}\n})().catch(failed); });`,
		),
		"client-node": partText(clientNode.text),
		certificates: partText(certificates.text),
		loader: loader.text,
	};
	for (const [name, text] of Object.entries(texts)) {
		// The loader reads the text with one byte for each character.
		const [strange] = /[^\0-\x7f]/.exec(text) ?? [];
		if (strange !== undefined)
			throw new Error(`${name}.js has "${strange}" in it: write it as an escape in the source`);
		writeFileSync(join(folder, `${name}.js`), text);
	}
	return [...new Set(built.flatMap(({ inputs }) => inputs))].toSorted();
}

function partText(text: string): string {
	return `(function (require, module, exports) {${text}\n})`;
}

interface BundledText {
	readonly text: string;
	/** Source files of which some code is in the text. */
	readonly inputs: readonly string[];
}

async function bundleText(own: BuildOptions): Promise<BundledText> {
	const { outputFiles, metafile } = await build({ ...options, ...own, metafile: true });
	const [file] = outputFiles ?? [];
	const [output] = Object.values(metafile.outputs);
	if (file === undefined || output === undefined) throw new Error("esbuild has written nothing");
	const used = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
	return { text: file.text, inputs: used.map(([input]) => input) };
}
