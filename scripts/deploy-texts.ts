// The manifests of agent/deploy/, and the example of a team, as one file beside what installs them: the plugin is a single program, which has no folder to read them from,
// and imports nothing of the agent; Helm reads nothing outside of a chart. Written by `npm run generate`.
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { repositoryRoot } from "./repository-root.ts";

const source = join("agent", "deploy");
/** No part of what everybody applies. */
const team = join("agent", "team", "team.yaml");

/** From the root. */
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
