import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.ts";

const notOurs = new Set(["node_modules", "dist", ".git"]);

/** Returns all files by their path from the repository root, with "/", without folders that tools create. */
export function listFiles(folder = repositoryRoot): string[] {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : listFiles(path);
		return entry.isFile() ? [relative(repositoryRoot, path).split(sep).join(posix.sep)] : [];
	});
}

export function readSource(path: string): string {
	return readFileSync(join(repositoryRoot, path), "utf8");
}

export function isSourceFile(path: string): boolean {
	return /\.[cm]?[jt]sx?$/.test(path);
}

export function isGenerated(path: string): boolean {
	return path.startsWith("proto/gen/");
}
