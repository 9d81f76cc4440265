// `npm run build`: bundles the plugin and the agent into dist/. `-- --test` also bundles both into dist/test/, with the fail points of
// crash tests.
import { join } from "node:path";
import { bundle } from "./bundle.ts";
import { repositoryRoot } from "./repository-root.ts";

async function buildInto(folder: string, failPoints: boolean): Promise<void> {
	for (const line of (await bundle({ folder: join(repositoryRoot, folder), failPoints })).lines) console.log(line);
}

try {
	await buildInto("dist", false);
	if (process.argv.includes("--test")) await buildInto("dist/test", true);
} catch (error) {
	// esbuild has already printed its errors.
	if (!(error instanceof Error && "errors" in error)) throw error;
	process.exitCode = 1;
}
