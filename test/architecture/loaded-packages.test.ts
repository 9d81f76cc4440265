import { expect, test } from "vitest";
import { loadedPackages } from "./loaded-packages.ts";

test("loadedPackages() follows what is imported at once, and neither types nor what is imported when it is needed", () => {
	const sources = new Map([
		[
			"a/a.ts",
			'import { b } from "../b/b.ts";\nimport type { c } from "c";\nexport const d = () => import("../d.ts");',
		],
		["b/b.ts", 'export * from "b";\nimport "../a/a.ts";\nimport fs from "node:fs";'],
		["d.ts", 'import "d";'],
	]);
	expect([...loadedPackages("a/a.ts", sources)].toSorted()).toEqual(["b", "node:fs"]);
	expect([...loadedPackages("d.ts", sources)]).toEqual(["d"]);
	expect(() => loadedPackages("e.ts", sources)).toThrow("there is no e.ts");
});
