import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createScratchFolder } from "../plugin/kubernetes/scratch-folder.ts";
import { areOlder } from "./build-programs.ts";

const { folder, write } = createScratchFolder("build-programs");

function writeAt(name: string, seconds: number): string {
	const path = write(name, "");
	utimesSync(path, seconds, seconds);
	return path;
}

test("programs are built anew where one is missing, or older than one of their sources", () => {
	const [agent, plugin] = [writeAt("dist/agent.js", 200), writeAt("dist/plugin.js", 100)];
	const lock = writeAt("lock.json", 50);
	const source = writeAt("src/deep/a.ts", 99);
	const sources = [join(folder, "src"), lock];
	expect(areOlder([agent, plugin], sources)).toBe(false);
	expect(areOlder([agent, join(folder, "missing.js")], [])).toBe(true);
	utimesSync(source, 101, 101);
	expect(areOlder([agent, plugin], sources)).toBe(true);
	expect(areOlder([agent], sources)).toBe(false);
	expect(areOlder([agent, plugin], [])).toBe(false);
	utimesSync(lock, 201, 201);
	expect(areOlder([agent], sources)).toBe(true);
});
