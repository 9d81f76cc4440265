// Makes files in a separate folder, which is removed after the suite.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

export interface ScratchFolder {
	readonly folder: string;
	readonly write: (name: string, content: string) => string;
}

export function createScratchFolder(name: string): ScratchFolder {
	const folder = mkdtempSync(join(tmpdir(), `xpdb-${name}-`));
	afterAll(() => rmSync(folder, { recursive: true }));
	return {
		folder,
		write(file, content) {
			const path = join(folder, file);
			mkdirSync(dirname(path), { recursive: true });
			writeFileSync(path, content);
			return path;
		},
	};
}
