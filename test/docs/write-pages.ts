// Writes the generated parts of the pages in docs/. With --check, it only names the pages that are not current. `npm run generate` and `npm
// run check` start it as a process, because their scripts may not import what the pages are made from.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { commandPages } from "./command-pages.ts";
import { differenceTables } from "./difference-tables.ts";
import { type GeneratedParts, withGeneratedParts } from "./generated-parts.ts";
import { jsonTables } from "./json-tables.ts";

const pages: Readonly<Record<string, GeneratedParts>> = {
	...(await commandPages()),
	"docs/json.md": jsonTables(),
	"docs/kubectl.md": differenceTables(),
};

const folders = ["docs/commands"];

const checks = process.argv.includes("--check");
for (const [path, parts] of Object.entries(pages)) {
	const file = join(repositoryRoot, path);
	const page = existsSync(file) ? readFileSync(file, "utf8") : undefined;
	try {
		if (page === undefined) throw new Error(`It is missing: it needs places for ${JSON.stringify(Object.keys(parts))}`);
		const wanted = withGeneratedParts(page, parts);
		if (page === wanted) continue;
		if (checks) throw new Error("It is not current: run `npm run generate`");
		writeFileSync(file, wanted);
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		console.error(`${path}: ${error.message}`);
		process.exitCode = 1;
	}
}

for (const path of folders.flatMap((folder) =>
	readdirSync(join(repositoryRoot, folder)).map((name) => `${folder}/${name}`),
)) {
	if (path in pages) continue;
	console.error(`${path}: There is nothing any more that it is made from: delete it`);
	process.exitCode = 1;
}
