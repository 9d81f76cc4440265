// Tests what a scanner reads about the shipped programs: every package in them, and Node in a form that matches its known vulnerabilities.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../scripts/bundle.ts";
import { writeProgramParts } from "../../scripts/executable/program-parts.ts";
import { licenceNotices, packagesOf } from "../../scripts/licence-notices.ts";
import { billOfMaterials } from "../../scripts/package/bill-of-materials.ts";

interface Component {
	readonly "bom-ref": string;
	readonly name: string;
	readonly scope?: string;
	readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
	readonly cpe?: string;
}

const sha256 = "5f".repeat(32);
const nodes = [
	{ version: "24.1.2", os: "linux", arch: "amd64", sha256 },
	{ version: "24.1.2", os: "darwin", arch: "arm64", sha256 },
];

describe("billOfMaterials()", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-bill-"));
	const packages = new Map<string, ReturnType<typeof packagesOf>>();
	beforeAll(async () => {
		packages.set("kubectl-xpdb", packagesOf(await writeProgramParts(folder)));
		packages.set("xpdb-agent", packagesOf((await bundle({ folder, failPoints: false })).agentInputs));
	});
	afterAll(() => rmSync(folder, { recursive: true, force: true }));
	const write = (name: string) =>
		billOfMaterials({
			name,
			nodes,
			packages: packages.get(name) ?? new Map<string, unknown>(),
			modified: 1_700_000_000,
		});
	const componentsOf = async (name: string) =>
		(JSON.parse(await write(name)) as { readonly components: readonly Component[] }).components;

	for (const name of ["kubectl-xpdb", "xpdb-agent"]) {
		test(`lists every package in ${name} whose licence goes along with it, with a hash, and no other`, async () => {
			const notices = licenceNotices(`${name} has`, packages.get(name) ?? new Map<string, readonly string[]>());
			const noticed = [...notices.matchAll(/^={100}\n(\S+) (\S+) \(/gm)].map(
				([, each, version]) => `${each}@${version}`,
			);
			expect(noticed.length).toBeGreaterThan(10);
			const listed = (await componentsOf(name)).filter((each) => each.name !== "node");
			expect(listed.map((each) => each["bom-ref"]).toSorted()).toEqual([...new Set(noticed)].toSorted());
			expect(listed.filter(({ hashes = [], scope }) => hashes.length !== 1 || scope !== "required")).toEqual([]);
		});
	}

	test("lists those that npm leaves out because development needs them too", async () => {
		const all = [...(await componentsOf("kubectl-xpdb")), ...(await componentsOf("xpdb-agent"))];
		const names = new Set(all.map(({ name }) => name));
		const left = ["yaml", "@bufbuild/protobuf", "@opentelemetry/api"];
		expect(left.filter((name) => !names.has(name))).toEqual([]);
	});

	test("has Node for each platform, with a hash and a CPE", async () => {
		const found = (await componentsOf("xpdb-agent")).filter(({ name }) => name === "node");
		expect(found.map((each) => each["bom-ref"])).toEqual([
			"pkg:generic/node@24.1.2?arch=amd64&os=linux",
			"pkg:generic/node@24.1.2?arch=arm64&os=darwin",
		]);
		for (const { hashes, cpe } of found) {
			expect(hashes).toEqual([{ alg: "SHA-256", content: sha256 }]);
			expect(cpe).toBe("cpe:2.3:a:nodejs:node.js:24.1.2:*:*:*:*:*:*:*");
		}
	});

	test("makes the same bytes of the same contents", async () => {
		expect(await write("kubectl-xpdb")).toBe(await write("kubectl-xpdb"));
	});

	test("refuses a package that npm does not know", async () => {
		// This repository, which no package depends on.
		const unknown = new Map([[".", []]]);
		await expect(billOfMaterials({ name: "x", nodes, packages: unknown, modified: 0 })).rejects.toThrow(
			/^Cannot find the bundled package xpdb@/,
		);
	});
});
