import { describe, expect, test } from "vitest";
import { findImports } from "./imports.ts";

const rows = [
	{ name: "a default import", text: `import a from "./x.ts";`, specifier: "./x.ts" },
	{ name: "named imports", text: `import { a, b as c } from "./x.ts";`, specifier: "./x.ts", names: ["a", "b"] },
	{ name: "a namespace import", text: `import * as a from "./x.ts";`, specifier: "./x.ts" },
	{ name: "an import for its side effects", text: `import "./x.ts";`, specifier: "./x.ts", names: [] },
	{
		name: "an import over several lines",
		text: `import\n\t{\n\ta,\n}\nfrom\n\t"./x.ts"\n;`,
		specifier: "./x.ts",
		names: ["a"],
	},
	{
		name: "an import in single quotes, without a semicolon",
		text: `import a from'./x.ts'\nconst b = 1`,
		specifier: "./x.ts",
	},
	{ name: "an import with attributes", text: `import a from "./x.json" with { type: "json" };`, specifier: "./x.json" },
	{ name: "an import by an escaped name", text: `import a from "./\\u0078.ts";`, specifier: "./x.ts" },
	{
		name: "an import after a comment on the same line",
		text: `/* import b from "y" */ import a from "x";`,
		specifier: "x",
	},
	{ name: "an import of a type", text: `import type { A } from "x";`, specifier: "x", typeOnly: true, names: ["A"] },
	// Node erases only `import type`. This import leaves `import {} from "x"`, which loads x.
	{
		name: "an inline type, which still loads the module",
		text: `import { type A } from "x";`,
		specifier: "x",
		names: ["A"],
	},
	{ name: "a re-export", text: `export { a } from "./x.ts";`, specifier: "./x.ts", names: ["a"] },
	{
		name: "a re-export under another name",
		text: `export { a as b } from "./x.ts";`,
		specifier: "./x.ts",
		names: ["a"],
	},
	{ name: "a re-export of everything", text: `export * from "./x.ts";`, specifier: "./x.ts" },
	{ name: "a re-export as a namespace", text: `export * as a from "./x.ts";`, specifier: "./x.ts" },
	{ name: "a re-export of a type", text: `export type { A } from "x";`, specifier: "x", typeOnly: true, names: ["A"] },
	{ name: "a re-export of all types", text: `export type * from "x";`, specifier: "x", typeOnly: true },
	{ name: "a type by import()", text: `type A = import("x").A;`, specifier: "x", typeOnly: true },
	{ name: "a type by typeof import()", text: `let a: typeof import("x");`, specifier: "x", typeOnly: true },
	{ name: "a dynamic import", text: `const a = await import("x");`, specifier: "x", lazy: true },
	{ name: "a dynamic import by a template", text: "void import(`x`);", specifier: "x", lazy: true },
	{
		name: "a dynamic import deep in a function",
		text: `const f = () => { if (1) return [import("x")]; };`,
		specifier: "x",
		lazy: true,
	},
	{ name: "a dynamic import of what a variable says", text: `void import(where);`, specifier: undefined, lazy: true },
	{
		name: "a dynamic import of a template with a hole",
		text: "void import(`./${where}.ts`);",
		specifier: undefined,
		lazy: true,
	},
	{ name: "require()", text: `const a = require("x");`, specifier: "x" },
	{ name: "require() of what a variable says", text: `const a = require(where);`, specifier: undefined },
	{ name: "import = require()", text: `import a = require("x");`, specifier: "x" },
	{ name: "require.resolve()", text: `const a = require.resolve("x");`, specifier: "x" },
	{ name: "module.require()", text: `const a = module.require("x");`, specifier: "x" },
	{ name: "require under another name", text: `const load = require;`, specifier: undefined },
	{ name: "import.meta.resolve()", text: `const a = import.meta.resolve("x");`, specifier: "x" },
	{
		name: "a module's address, as a worker is given",
		text: `new Worker(new URL("./x.ts", import.meta.url));`,
		specifier: "./x.ts",
	},
	{ name: "createRequire under another name", text: `createRequire(import.meta.url)("x");`, specifier: undefined },
	{ name: "process.getBuiltinModule()", text: `process.getBuiltinModule("node:fs");`, specifier: undefined },
];

describe("findImports()", () => {
	for (const { name, text, ...expected } of rows) {
		test(`finds ${name}`, () => {
			const found = findImports("a.ts", `const before = 1;\n${text}`);
			expect(found).toEqual([{ line: 2, typeOnly: false, lazy: false, names: undefined, ...expected }]);
		});
	}

	const harmless = [
		{ name: "text that only looks like an import", text: `const a = 'import b from "x"; require("x")';` },
		{ name: "comments", text: `// import b from "x";\n/* require("x"), import("x") */` },
		{ name: "an export of its own", text: `const a = 1;\nexport { a };\nexport const b = 2;` },
		{ name: "a property called require", text: `const a = { require: 1 };\nconst b = a.require;` },
		{ name: "a file beside the module that is no code", text: `new URL("./deploy/agent.yaml", import.meta.url);` },
	];
	for (const { name, text } of harmless) {
		test(`lets ${name} be`, () => {
			expect(findImports("a.ts", text)).toEqual([]);
		});
	}

	test("reads JSX", () => {
		expect(findImports("a.tsx", `import { Text } from "ink";\nexport const A = () => <Text>a</Text>;`)).toHaveLength(1);
	});

	test("refuses a file that it cannot read, rather than pass it", () => {
		expect(() => findImports("a.ts", "import from from from")).toThrow(SyntaxError);
	});
});
