import { describe, expect, test } from "vitest";
import { findBreaches } from "./import-rules.ts";

/** A tree without breaches, with at least one file for each folder. */
const sound: Readonly<Record<string, string>> = {
	"disruption/a.ts": `import type { V1Pod } from "@kubernetes/client-node";\nimport { createHash } from "node:crypto";`,
	"disruption/b.ts": `import { a } from "./a.ts";`,
	"proto/a.ts": `import { a } from "../disruption/a.ts";\nimport { Client } from "@grpc/grpc-js";`,
	"proto/gen/a.ts": `import { BinaryReader } from "@bufbuild/protobuf/wire";`,
	"agent/a.ts": `import { a } from "../disruption/a.ts";\nimport { b } from "../proto/a.ts";\nimport pino from "pino";`,
	"plugin/a.ts": `import { a } from "../disruption/a.ts";\nimport { b } from "../proto/a.ts";\nimport yargs from "yargs";`,
	"plugin/commands/a.ts": `import { a } from "../fleet/a.ts";`,
	"plugin/run/a.ts": `import type { V } from "../ui/V.tsx";\nawait import("../ui/V.tsx");`,
	"plugin/plan/simulate-drain.ts": `import { a } from "../../disruption/a.ts";`,
	"plugin/fleet/a.ts": `import { a } from "../flags/a.ts";`,
	"plugin/nodes/a.ts": `import { a } from "../flags/a.ts";`,
	"plugin/flags/a.ts": `import { readFile } from "node:fs/promises";`,
	"plugin/ui/V.tsx": `import { Text } from "ink";\nimport { useState } from "react";`,
	"demo/a.ts": `import { a } from "./agents/a.ts";\nimport { b } from "../proto/a.ts";\nimport { c } from "../scripts/a.ts";`,
	"demo/agents/a.ts": `import { a } from "../machine/a.ts";`,
	"demo/apiserver/a.ts": `import { a } from "../machine/a.ts";\nimport { WebSocketServer } from "ws";`,
	"demo/machine/a.ts": `import { spawn } from "node:child_process";`,
	"scripts/a.ts": `import { build } from "esbuild";\nimport { readFile } from "node:fs/promises";`,
	"test/a.ts": `import { a } from "../agent/a.ts";\nimport { b } from "../demo/a.ts";\nimport { test } from "vitest";`,
};

const rows = [
	{ name: "disruption imports proto", file: "disruption/new.ts", text: `import { a } from "../proto/a.ts";` },
	{ name: "disruption imports agent", file: "disruption/new.ts", text: `import { a } from "../agent/a.ts";` },
	{ name: "disruption imports plugin", file: "disruption/new.ts", text: `import { a } from "../plugin/a.ts";` },
	{ name: "disruption imports a package", file: "disruption/new.ts", text: `import pino from "pino";` },
	{
		name: "disruption loads the Kubernetes client",
		file: "disruption/new.ts",
		text: `import { V1Pod } from "@kubernetes/client-node";`,
	},
	{
		name: "disruption loads the Kubernetes client by an inline type",
		file: "disruption/new.ts",
		text: `import { type V1Pod } from "@kubernetes/client-node";`,
	},
	{ name: "disruption imports node:fs", file: "disruption/new.ts", text: `import { readFileSync } from "node:fs";` },
	{
		name: "disruption imports fs without node:",
		file: "disruption/new.ts",
		text: `import { readFileSync } from "fs";`,
	},
	{
		name: "disruption takes randomness from node:crypto",
		file: "disruption/new.ts",
		text: `import { randomUUID } from "node:crypto";`,
	},
	{
		name: "disruption takes more than the hash from node:crypto",
		file: "disruption/new.ts",
		text: `import { createHash, randomUUID } from "node:crypto";`,
	},
	{
		name: "disruption takes all of node:crypto",
		file: "disruption/new.ts",
		text: `import * as crypto from "node:crypto";`,
	},
	{
		name: "disruption takes node:crypto by default import",
		file: "disruption/new.ts",
		text: `import crypto from "node:crypto";`,
	},
	{
		name: "disruption loads node:crypto for its side effects",
		file: "disruption/new.ts",
		text: `import "node:crypto";`,
	},
	{ name: "disruption loads something while it runs", file: "disruption/new.ts", text: `await import("node:fs");` },
	{ name: "disruption loads something by require", file: "disruption/new.ts", text: `require("node:fs");` },
	{
		name: "disruption reads package.json",
		file: "disruption/new.ts",
		text: `import a from "../package.json" with { type: "json" };`,
	},
	{
		name: "plugin carries the manifests outside its room for installing",
		file: "plugin/plan/new.ts",
		text: `import a from "../install/deploy-texts.json" with { type: "json" };`,
	},
	{ name: "proto imports agent", file: "proto/new.ts", text: `import type { A } from "../agent/a.ts";` },
	{ name: "proto imports plugin", file: "proto/new.ts", text: `export * from "../plugin/a.ts";` },
	{ name: "proto imports yargs", file: "proto/new.ts", text: `import yargs from "yargs";` },
	{ name: "agent imports plugin", file: "agent/new.ts", text: `import { a } from "../plugin/a.ts";` },
	{ name: "agent imports a type of plugin", file: "agent/new.ts", text: `import type { A } from "../plugin/a.ts";` },
	{ name: "agent imports plugin dynamically", file: "agent/new.ts", text: `await import("../plugin/a.ts");` },
	{ name: "agent imports plugin in a type", file: "agent/new.ts", text: `type A = import("../plugin/a.ts").A;` },
	{
		name: "agent runs plugin as a worker",
		file: "agent/new.ts",
		text: `new Worker(new URL("../plugin/a.ts", import.meta.url));`,
	},
	{ name: "agent imports react", file: "agent/new.ts", text: `import react from "react";` },
	{ name: "agent hides what it imports", file: "agent/new.ts", text: `await import(process.argv[2]);` },
	{ name: "plugin imports agent", file: "plugin/new.ts", text: `import "../agent/a.ts";` },
	{ name: "plugin re-exports agent", file: "plugin/new.ts", text: `export { a } from "../agent/a.ts";` },
	{
		name: "plugin imports agent by a detour",
		file: "plugin/new.ts",
		text: `import a from "./commands/../../agent/a.ts";`,
	},
	{ name: "plugin imports an agent's package", file: "plugin/new.ts", text: `import { Registry } from "prom-client";` },
	{ name: "plugin uses ink outside ui", file: "plugin/new.ts", text: `import { render } from "ink";` },
	{ name: "plugin uses react in a command", file: "plugin/commands/new.ts", text: `import { useState } from "react";` },
	{ name: "plugin uses a part of react", file: "plugin/new.ts", text: `import { jsx } from "react/jsx-runtime";` },
	{ name: "plugin loads ui before it is drawn", file: "plugin/new.ts", text: `import { V } from "./ui/V.tsx";` },
	{ name: "a room imports the one above", file: "plugin/flags/new.ts", text: `import { a } from "../fleet/a.ts";` },
	{ name: "a room imports one beside it", file: "plugin/fleet/new.ts", text: `import { a } from "../nodes/a.ts";` },
	{
		name: "a room imports a type of one above",
		file: "plugin/flags/new.ts",
		text: `import type { A } from "../fleet/a.ts";`,
	},
	{ name: "a room imports the folder's own files", file: "plugin/fleet/new.ts", text: `import { a } from "../a.ts";` },
	{ name: "a file is in no room", file: "plugin/attic/new.ts", text: `import { a } from "../flags/a.ts";` },
	{
		name: "a pure file of the plan imports the plugin's",
		file: "plugin/plan/drain-queue.ts",
		text: `import { a } from "../flags/a.ts";`,
	},
	{
		name: "a pure file of the plan imports node:fs",
		file: "plugin/plan/drain-queue.ts",
		text: `import { readFileSync } from "node:fs";`,
	},
	{ name: "agent imports test", file: "agent/new.ts", text: `import { a } from "../test/a.ts";` },
	{ name: "disruption imports test", file: "disruption/new.ts", text: `import type { A } from "../test/a.ts";` },
	{ name: "demo imports agent", file: "demo/new.ts", text: `import type { A } from "../agent/a.ts";` },
	{ name: "demo imports plugin", file: "demo/new.ts", text: `import { a } from "../plugin/a.ts";` },
	{ name: "demo imports test", file: "demo/new.ts", text: `import { a } from "../test/a.ts";` },
	{ name: "demo imports a package of tests", file: "demo/new.ts", text: `import { expect } from "vitest";` },
	{
		name: "the small API server imports the agents' processes",
		file: "demo/apiserver/new.ts",
		text: `import { a } from "../agents/a.ts";`,
	},
	{ name: "agent imports demo", file: "agent/new.ts", text: `import { a } from "../demo/a.ts";` },
	{ name: "scripts import demo", file: "scripts/new.ts", text: `import { a } from "../demo/a.ts";` },
	{ name: "scripts import test", file: "scripts/new.ts", text: `import { a } from "../test/a.ts";` },
	{ name: "scripts import agent", file: "scripts/new.ts", text: `import { a } from "../agent/a.ts";` },
	{ name: "a package that nobody allowed is used", file: "agent/new.ts", text: `import _ from "lodash";` },
	{ name: "a file is imported by an absolute path", file: "agent/new.ts", text: `import a from "/plugin/a.ts";` },
	{ name: "a file is imported by a URL", file: "agent/new.ts", text: `import a from "file:///plugin/a.ts";` },
	{ name: "a file is imported by a subpath alias", file: "agent/new.ts", text: `import a from "#plugin/a.ts";` },
	{ name: "the package imports itself by name", file: "agent/new.ts", text: `import a from "xpdb/plugin/a.ts";` },
	{ name: "a file is imported that is not there", file: "agent/new.ts", text: `import a from "./nowhere.ts";` },
];

describe("findBreaches()", () => {
	const breachesWith = (changes: Readonly<Record<string, string>>) =>
		findBreaches(new Map(Object.entries({ ...sound, ...changes })));

	test("finds nothing in a sound tree", () => {
		expect(breachesWith({})).toEqual([]);
	});

	for (const { name, file, text } of rows) {
		test(`finds that ${name}`, () => {
			expect(breachesWith({ [file]: `const before = 1;\n${text}` })).toEqual([expect.stringMatching(`^${file}:2 `)]);
		});
	}

	test("finds a folder without a rule, from both sides", () => {
		const changes = { "elsewhere/a.ts": `import pino from "pino";`, "agent/b.ts": `import "../elsewhere/a.ts";` };
		expect(breachesWith(changes)).toHaveLength(2);
	});

	const cycles = [
		{ name: "a file that imports itself", changes: { "agent/a.ts": `import "./a.ts";` } },
		{ name: "two files", changes: { "agent/a.ts": `import "./b.ts";`, "agent/b.ts": `import "./a.ts";` } },
		{
			name: "three files, one of them by a type",
			changes: {
				"agent/a.ts": `import "./b.ts";`,
				"agent/b.ts": `import type { C } from "./c.ts";`,
				"agent/c.ts": `export * from "./a.ts";`,
			},
		},
		{ name: "test files", changes: { "test/a.ts": `import "./b.ts";`, "test/b.ts": `await import("./a.ts");` } },
	];
	for (const { name, changes } of cycles) {
		test(`finds a cycle of ${name}`, () => {
			expect(breachesWith(changes)).toEqual([expect.stringMatching(/is in a cycle: .* -> /)]);
		});
	}

	test("takes two ways to one file for no cycle", () => {
		const changes = {
			"agent/a.ts": `import "./b.ts";\nimport "./c.ts";`,
			"agent/b.ts": `import "./c.ts";`,
			"agent/c.ts": "",
		};
		expect(breachesWith(changes)).toEqual([]);
	});
});
