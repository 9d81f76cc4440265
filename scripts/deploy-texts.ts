// Joins the manifests of agent/deploy/ and the example of a team into one text, which `npm run generate` writes into the plugin and the
// Helm chart. The plugin is a single program without a folder of manifests. Helm reads nothing outside of a chart.
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { repositoryRoot } from "./repository-root.ts";

const source = join("agent", "deploy");
/** Not in agent/deploy/, because not every installation applies it. */
const team = join("agent", "team", "team.yaml");

/** Paths from the root. */
export const deployTextsFiles = [
	join("plugin", "install", "deploy-texts.json"),
	join("agent", "chart", "deploy-texts.json"),
] as const;

export async function deployTexts(): Promise<string> {
	const files = (await readdir(join(repositoryRoot, source))).filter((file) => file.endsWith(".yaml")).toSorted();
	const texts = await Promise.all(
		[...files.map((file) => join(source, file)), team].map(
			async (path) => [basename(path), await readFile(join(repositoryRoot, path), "utf8")] as const,
		),
	);
	return `${JSON.stringify(Object.fromEntries(texts), null, "\t")}\n`;
}
