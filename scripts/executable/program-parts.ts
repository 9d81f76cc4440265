// The plugin as text for the single executable: one script, and apart from it what few calls need: the library for some logins, what signs
// certificates, and the screens, whose code all other calls would read for nothing.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { screenDefines, shippedOptions, shippedPlugins, yargsAlone } from "../bundle.ts";
import { repositoryRoot } from "../repository-root.ts";
import type { PartName } from "./start-program.ts";

const parts: Plugin = {
	name: "parts",
	setup(bundler) {
		bundler.onResolve({ filter: /.*/ }, ({ path, kind }) => {
			const name = kind === "dynamic-import" ? partOf.get(path) : undefined;
			return name && { path: name, namespace: "part" };
		});
		bundler.onLoad({ filter: /.*/, namespace: "part" }, ({ path }) => ({
			contents:
				path === "screens"
					? 'export const { openScreen, openBudgetScreen } = await loadPart("screens");'
					: `module.exports = loadPart(${JSON.stringify(path)});`,
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
		// It is no file, and nothing is beside it.
		"import.meta.url": '"file:///kubectl-xpdb/plugin.js"',
		"import.meta.resolve": "undefined",
	},
};

/** Writes each part into the folder, as NAME.js, and the loader. */
export async function writeProgramParts(folder: string): Promise<void> {
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
	const texts: Readonly<Record<PartName | "loader", string>> = {
		// A module that waits while it loads, as an async function: so it may stand in a script.
		plugin: `(async function (require, loadPart) {${plugin.replace(/^#!.*/, "")}\n})`,
		screens: partText(
			`module.exports = new Promise((loaded, failed) => { (async () => {${screens}\n})().catch(failed); });`,
		),
		"client-node": partText(clientNode),
		certificates: partText(certificates),
		loader,
	};
	for (const [name, text] of Object.entries(texts)) {
		// V8 keeps text that is more than that in twice the memory.
		const [strange] = /[^\0-\x7f]/.exec(text) ?? [];
		if (strange !== undefined)
			throw new Error(`${name}.js has "${strange}" in it: write it as an escape in the source`);
		writeFileSync(join(folder, `${name}.js`), text);
	}
}

/** A module, as a function of what it needs from outside. */
function partText(text: string): string {
	return `(function (require, module, exports) {${text}\n})`;
}

async function bundleText(own: BuildOptions): Promise<string> {
	const { outputFiles } = await build({ ...options, ...own });
	const [file] = outputFiles ?? [];
	if (file === undefined) throw new Error("esbuild has written nothing");
	return file.text;
}
