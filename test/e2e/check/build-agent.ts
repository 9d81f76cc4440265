// Builds the agent as if it were another version, with other features.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { shippedOptions, shippedPlugins } from "../../../scripts/bundle.ts";
import { repositoryRoot } from "../../../scripts/repository-root.ts";

export interface OtherAgent {
	readonly version: string;
	/** The budget features that it claims to support. */
	readonly features?: readonly string[];
	/** The folder for its program. */
	readonly folder: string;
}

/** Returns the path of the program. */
export async function buildAgent({ version, features = [], folder }: OtherAgent): Promise<string> {
	const outfile = join(folder, `agent-${version}.js`);
	const texts: Readonly<Record<string, (text: string) => string>> = {
		"package.json": (text) => replaced(text, /"version": "[^"]+"/, `"version": "${version}"`),
		"budget.ts": (text) =>
			replaced(
				text,
				/(supportedFeatures: readonly BudgetFeature\[\]) = \[\]/,
				`$1 = ${JSON.stringify(features)} as never`,
			),
	};
	const otherTexts: Plugin = {
		name: "other-texts",
		setup(bundler) {
			const own = [join(repositoryRoot, "package.json"), join(repositoryRoot, "disruption", "budget", "budget.ts")];
			bundler.onLoad({ filter: /[\\/](package\.json|budget\.ts)$/ }, ({ path }) => {
				if (!own.includes(path)) return undefined;
				const contents = texts[basename(path)]?.(readFileSync(path, "utf8")) ?? "";
				return { contents, loader: path.endsWith(".json") ? "json" : "ts" };
			});
		},
	};
	await build({
		...shippedOptions,
		entryPoints: ["agent/main.ts"],
		outfile,
		plugins: [otherTexts, ...shippedPlugins],
	});
	return outfile;
}

function replaced(text: string, part: RegExp, other: string): string {
	if (!part.test(text)) throw new Error(`There is no ${String(part)} any more`);
	return text.replace(part, other);
}
