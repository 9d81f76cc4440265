// Tests how users get the plugin: with krew, the real kubectl, the shipped file and small clusters.
import { spawn } from "node:child_process";
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { noticesFile } from "../../scripts/bundle.ts";
import { writeArchive } from "../../scripts/package/archive.ts";
import { krewManifest } from "../../scripts/package/krew-manifest.ts";
import { startTestCluster, type TestCluster } from "../kubernetes/test-cluster.ts";
import { fillStuckNodes, freeNodes, podNames, stuckNodes } from "../plugin/ui/stuck-nodes.ts";
import { shippedExecutable } from "../support/shipped-executable.ts";
import { type ArchiveServer, serveArchives } from "./archive-server.ts";
import { createKrewHome, findKrew, type KrewHome } from "./krew-home.ts";
import { createPluginIndex } from "./plugin-index.ts";

const programs = await findKrew();
const isMissing = programs.kind === "missing";
const name = isMissing ? `krew (skipped: ${programs.reason})` : "krew";

const [os, arch] = [process.platform, process.arch === "x64" ? "amd64" : process.arch];
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const clientLine = `Client: v${version}\n`;

describe.skipIf(isMissing)(name, () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-krew-test-"));
	const files = join(folder, "files");
	const release = join(folder, "release");
	const archive = join(release, "xpdb.tar.gz");
	let sha256: string;
	let server: ArchiveServer;
	let cluster: TestCluster;

	beforeAll(async () => {
		for (const each of [files, release]) mkdirSync(each);
		copyFileSync(await shippedExecutable(), join(files, "kubectl-xpdb"));
		copyFileSync(join("dist", noticesFile), join(files, noticesFile));
		copyFileSync("LICENSE", join(files, "LICENSE"));
		sha256 = await writeArchive({ folder: files, files: readdirSync(files), modified: 0, output: archive, level: 6 });
		server = await serveArchives(release);
		cluster = await startTestCluster({ nodes: 2 });
		await fillStuckNodes(cluster);
	});
	afterAll(async () => {
		server?.close();
		await cluster?.stop();
		rmSync(folder, { recursive: true });
	});

	const newHome = (name: string): KrewHome => createKrewHome(join(folder, name), programs);

	const manifestOf = (name: string, file = "xpdb.tar.gz"): string =>
		krewManifest(name, [{ os, arch, program: "kubectl-xpdb", uri: `${server.url}/${file}`, sha256 }]);

	const mustRun = async (home: KrewHome, args: readonly string[]): Promise<void> => {
		const { code, stderr } = await home.run(args);
		expect({ args, code }, stderr).toEqual({ args, code: 0 });
	};

	test("takes the manifest and the archive, as its index's own validator says", async () => {
		const home = newHome("validator");
		const manifest = join(folder, "xpdb.yaml");
		writeFileSync(manifest, manifestOf("1.0.0"));
		const { code, stderr } = await home.validate(manifest);
		expect(stderr).toContain("all 1 spec.platforms installed fine");
		expect(code).toBe(0);
	});

	test("installs a manifest with an archive beside it, which runs in odd environments, and uninstalls it without a trace", async () => {
		const home = newHome("manifest");
		const index = createPluginIndex(join(folder, "empty-index"));
		index.publish(manifestOf("1.0.0"));
		const manifest = join(folder, "manifest", "xpdb.yaml");
		writeFileSync(manifest, manifestOf("1.0.0"));
		await mustRun(home, ["krew", "install", `--manifest=${manifest}`, `--archive=${archive}`]);
		expect(readdirSync(join(home.root, "store", "xpdb", "v1.0.0")).toSorted()).toEqual(readdirSync(files).toSorted());
		expect(await home.run(["xpdb", "version", "--client"])).toEqual({ code: 0, stdout: clientLine, stderr: "" });
		// Another program's NODE_OPTIONS, and a home in which not even root can write.
		const odd = { NODE_OPTIONS: "--no-such-option", HOME: "/sys/home" };
		const args = ["drain", stuckNodes[1], "--force", "--dry-run=client", `--kubeconfig=${cluster.kubeconfig}`];
		expect(await home.run(["xpdb", ...args], odd)).toEqual({
			code: 0,
			stdout: expect.stringContaining(`node/${stuckNodes[1]} drained (dry run)`),
			stderr: "Warning: deleting Pods that declare no controller: default/web-1\n",
		});
		// krew does not continue without an index.
		await mustRun(home, ["krew", "index", "add", "ours", index.url]);
		await mustRun(home, ["krew", "uninstall", "xpdb"]);
		expect(readdirSync(join(home.root, "bin"))).toEqual([]);
		expect(existsSync(join(home.root, "store", "xpdb"))).toBe(false);
	});

	test("refuses an archive that somebody has changed", async () => {
		const home = newHome("tampered");
		const changed = readFileSync(archive);
		const middle = changed.length >> 1;
		changed[middle] = (changed[middle] ?? 0) ^ 1;
		writeFileSync(join(release, "changed.tar.gz"), changed);
		const index = createPluginIndex(join(folder, "tampered-index"));
		index.publish(manifestOf("1.0.0", "changed.tar.gz"));
		await mustRun(home, ["krew", "index", "add", "ours", index.url]);
		const { code, stderr } = await home.run(["krew", "install", "ours/xpdb"]);
		expect(code).toBe(1);
		expect(stderr).toContain("checksum does not match");
		expect(readdirSync(join(home.root, "bin"))).toEqual([]);
	});

	test("installs from an index of our own, upgrades under a drain that goes on to its end, and uninstalls", async () => {
		const home = newHome("index");
		const link = join(home.root, "bin", "kubectl-xpdb");
		const storeOf = (name: string) => join(home.root, "store", "xpdb", name);
		const index = createPluginIndex(join(folder, "index-repository"));
		index.publish(manifestOf("1.0.0"));
		await mustRun(home, ["krew", "index", "add", "ours", index.url]);
		await mustRun(home, ["krew", "install", "ours/xpdb"]);
		expect(await home.run(["xpdb", "version", "--client"])).toEqual({ code: 0, stdout: clientLine, stderr: "" });

		const drain = spawn("kubectl", ["xpdb", "drain", stuckNodes[0], "--force", `--kubeconfig=${cluster.kubeconfig}`], {
			env: home.environment,
			stdio: ["ignore", "pipe", "pipe"],
		});
		let output = "";
		for (const stream of [drain.stdout, drain.stderr]) {
			stream.on("data", (text: Buffer) => {
				output += text.toString();
			});
		}
		const ended = new Promise<number | null>((resolve) => drain.once("close", resolve));
		await vi.waitUntil(() => output.includes("web-0"), { timeout: 60_000 });

		index.publish(manifestOf("1.0.1"));
		await mustRun(home, ["krew", "upgrade", "xpdb"]);
		expect(realpathSync(link)).toBe(join(realpathSync(storeOf("v1.0.1")), "kubectl-xpdb"));
		expect(existsSync(storeOf("v1.0.0"))).toBe(false);
		// kubectl has replaced itself with the plugin, whose file is deleted.
		const file = os === "linux" ? readlinkSync(`/proc/${drain.pid}/exe`) : "only Linux tells: (deleted)";
		expect(file).toMatch(/\(deleted\)$/);
		expect(drain.exitCode).toBeNull();
		await freeNodes(cluster);
		expect(await ended, output).toBe(0);
		expect(output).toContain(`node/${stuckNodes[0]} drained`);
		expect(await podNames(cluster)).toEqual(["web-1"]);
		expect(await home.run(["xpdb", "version", "--client"])).toEqual({ code: 0, stdout: clientLine, stderr: "" });

		await mustRun(home, ["krew", "uninstall", "xpdb"]);
		expect(readdirSync(join(home.root, "bin"))).toEqual([]);
		expect(existsSync(join(home.root, "store", "xpdb"))).toBe(false);
	});
});
