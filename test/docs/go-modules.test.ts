import { expect, test } from "vitest";
import { listFiles, readSource } from "../architecture/source-files.ts";

test("docs/dependencies.md has each Go module that is built, in its version", () => {
	const goMods = listFiles().filter((path) => path.endsWith("/go.mod"));
	const rows = [...readSource("docs/dependencies.md").matchAll(/^\| `([\w./-]+)` \| (v[\w.-]+) \|/gm)];
	expect(rows).toHaveLength(goMods.length);
	const required = goMods.map(readSource).join("\n");
	const missing = rows.filter(([, name = "", version = ""]) => !required.includes(`\t${name} ${version}`));
	expect(missing.map(([row]) => row)).toEqual([]);
});
