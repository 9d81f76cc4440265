import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import stringWidth from "string-width";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundle, noticesFile, shippedOptions, shippedPlugins } from "../../scripts/bundle.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";

/** Returns the texts of the programs, their chunks and their source maps, which contain the sources. */
function programsIn(folder: string): string {
	const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.(c?js|map)$/.test(file));
	expect(files).toEqual(expect.arrayContaining(["agent.js", "kubectl-xpdb.js"]));
	return files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
}

describe("bundle()", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-bundle-"));
	const [shipped, forTests] = [join(folder, "shipped"), join(folder, "tests")];
	let built: Bundle;
	beforeAll(async () => {
		built = await bundle({ folder: shipped, failPoints: false });
		await bundle({ folder: forTests, failPoints: true });
	});
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	test("puts fail points into builds for tests, and not a word of them into what is shipped", () => {
		for (const name of ["XPDB_FAIL_POINT", "XPDB_PAUSE_POINT", "XPDB_HOLD_POD_EVENTS_MS"]) {
			expect(programsIn(forTests).includes(name), name).toBe(true);
			expect(programsIn(shipped).includes(name), name).toBe(false);
		}
		expect(built.inputs.filter((path) => path.startsWith("test/"))).toEqual([]);
		expect(programsIn(shipped).includes("SIGSTOP")).toBe(false);
	});

	test("loads for the client's own version nothing of Node that talks to a cluster", () => {
		const probe = join(folder, "probe.cjs");
		writeFileSync(probe, 'process.on("exit", () => process.stderr.write(JSON.stringify(process.moduleLoadList)));');
		const args = ["--require", probe, join(shipped, "kubectl-xpdb.js"), "version", "--client"];
		const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: {} });
		expect(stdout).toMatch(/^Client: v/);
		const loaded = JSON.parse(stderr) as readonly string[];
		expect(loaded).toContain("NativeModule tty");
		expect(loaded.filter((name) => /^NativeModule (https?|http2|tls|crypto|dns)$/.test(name))).toEqual([]);
	});

	test("gives gRPC and WebSockets zlib and dns when they use them, and not when they are loaded", async () => {
		const { outputFiles } = await build({
			...shippedOptions,
			plugins: [...shippedPlugins],
			stdin: {
				contents: `
					import { compressionAlgorithms, credentials } from "@grpc/grpc-js";
					import { WebSocket } from "ws";
					const loaded = () => process.moduleLoadList.filter((name) => /^NativeModule (dns|zlib)$/.test(name));
					const before = [typeof WebSocket, typeof credentials.createSsl, compressionAlgorithms.gzip, ...loaded()];
					console.log(JSON.stringify(before));
				`,
				resolveDir: repositoryRoot,
			},
			write: false,
		});
		const file = join(folder, "late.mjs");
		writeFileSync(file, outputFiles[0]?.text ?? "");
		const { stdout } = spawnSync(process.execPath, [file], { encoding: "utf8", env: {} });
		expect(JSON.parse(stdout)).toEqual(["function", "function", 2]);
	});

	test("measures texts as the library of wide characters does, which it loads for the first that is not ASCII", async () => {
		const { outputFiles } = await build({
			...shippedOptions,
			plugins: [...shippedPlugins],
			stdin: { contents: 'export { default } from "string-width";', resolveDir: repositoryRoot },
			write: false,
		});
		const file = join(folder, "width.mjs");
		writeFileSync(file, outputFiles[0]?.text ?? "");
		const { default: width } = (await import(pathToFileURL(file).href)) as { readonly default: typeof stringWidth };
		for (const text of [
			"",
			"node/eu-n0  3 of 4",
			"\u001b[31mred\u001b[39m",
			"caf\u00e9",
			"\u65e5\u672c",
			"a\u0301",
			"\t",
		]) {
			expect(width(text), JSON.stringify(text)).toBe(stringWidth(text));
		}
	});

	test("brings the licence of every package along", () => {
		const notices = readFileSync(join(shipped, noticesFile), "utf8");
		const bundled = built.inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
		const packages = [...new Set(bundled)].map((path) => join(repositoryRoot, path));
		expect(packages.length).toBeGreaterThan(40);
		const without = packages.filter((path) => {
			const { name, version } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<string, string>;
			const own = readdirSync(path).filter((file) => /licen[cs]e/i.test(file));
			const texts = own.map((file) => readFileSync(join(path, file), "utf8").trim());
			return !notices.includes(`${name} ${version} (`) || !texts.every((text) => notices.includes(text));
		});
		expect(without).toEqual([]);
		// This package has no licence file. Its notices are in its sources.
		const [, own = ""] = /\n(@bufbuild\/protobuf [^]*?)\n={100}\n/.exec(notices) ?? [];
		for (const words of ["Copyright 2008 Google Inc.", "Neither the name of Google Inc.", "Apache License"]) {
			expect(own.includes(words), words).toBe(true);
		}
	});
});
