// `npm run --silent notes -- --tag v0.2.0` prints the notes of a release. Exit code 1 means that the tag differs from the version, or
// that the changelog is not ready.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repositoryRoot } from "../repository-root.ts";
import { releaseNotes } from "./release-notes.ts";

const { values } = parseArgs({ options: { tag: { type: "string", default: "" } } });
const read = (path: string): string => readFileSync(join(repositoryRoot, path), "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };
try {
	process.stdout.write(releaseNotes({ version, tag: values.tag, changelog: read("CHANGELOG.md") }));
} catch (error) {
	console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
}
