import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { buildImage, type Image } from "../../scripts/image/build-image.ts";
import { type Platform, platforms } from "../../scripts/image/platforms.ts";
import { fullReference, writeImageArchive } from "../../scripts/image/write-image-archive.ts";

const work = mkdtempSync(join(tmpdir(), "xpdb-image-test-"));
afterAll(() => rmSync(work, { recursive: true }));
const platform = platforms.find(({ architecture }) => architecture === "amd64") as Platform;

function layerOf(name: string, files: Readonly<Record<string, string>>): string {
	const folder = mkdtempSync(join(work, `${name}-`));
	for (const [path, text] of Object.entries(files)) {
		mkdirSync(join(folder, "usr"), { recursive: true, mode: 0o700 });
		writeFileSync(join(folder, path), text, { mode: 0o600 });
		utimesSync(join(folder, path), 1, Math.random() * 1e9);
	}
	return folder;
}

const build = (): Promise<Image> =>
	buildImage({
		platform,
		layers: [
			{ folder: layerOf("system", { "usr/lib": "library", "usr/a": "a" }), createdBy: "system" },
			{ folder: layerOf("agent", { "usr/agent": "agent" }), createdBy: "agent" },
		],
		labels: { "org.opencontainers.image.version": "1.2.3" },
		created: "2026-01-02T03:04:05.000Z",
	});

async function writeArchive(name: string): Promise<string> {
	const output = join(work, name);
	const reference = "registry.example.com/xpdb-agent:1.2.3";
	writeImageArchive({ image: await build(), platform, reference, modified: 1_700_000_000, work, output });
	return output;
}

describe("writeImageArchive()", () => {
	test("makes the same bytes of the same files, with nothing in them of the machine", async () => {
		const [first, second] = [await writeArchive("first.tar"), await writeArchive("second.tar")];
		expect(readFileSync(first).equals(readFileSync(second))).toBe(true);
	});

	test("writes what docker finds by manifest.json and containerd by index.json, each under its own hash", async () => {
		const folder = mkdtempSync(join(work, "unpacked-"));
		execFileSync("tar", ["xf", await writeArchive("third.tar"), "-C", folder]);
		const read = (path: string): Buffer => readFileSync(join(folder, path));
		const json = (path: string) => JSON.parse(read(path).toString()) as never;
		const blobs = readdirSync(join(folder, "blobs", "sha256"));
		for (const name of blobs) {
			const found = createHash("sha256")
				.update(read(`blobs/sha256/${name}`))
				.digest("hex");
			expect(found).toBe(name);
		}
		expect(json("oci-layout")).toEqual({ imageLayoutVersion: "1.0.0" });

		const [contents] = json("manifest.json") as { Config: string; RepoTags: string[]; Layers: string[] }[];
		expect(contents?.RepoTags).toEqual(["registry.example.com/xpdb-agent:1.2.3"]);
		const config = json(contents?.Config ?? "") as {
			config: { User: string };
			rootfs: { diff_ids: string[] };
			history: unknown[];
		};
		expect(config).toMatchObject({ os: "linux", architecture: "amd64", config: { User: "65532:65532" } });
		const layers = contents?.Layers.map((path) => gunzipSync(read(path))) ?? [];
		expect(layers.map((tar) => `sha256:${createHash("sha256").update(tar).digest("hex")}`)).toEqual(
			config.rootfs.diff_ids,
		);
		expect(config.history).toHaveLength(layers.length);

		const { manifests } = json("index.json") as {
			manifests: { digest: string; size: number; platform: object; annotations: Record<string, string> }[];
		};
		expect(manifests).toHaveLength(1);
		expect(manifests[0]?.annotations["io.containerd.image.name"]).toBe("registry.example.com/xpdb-agent:1.2.3");
		const bytes = read(`blobs/${manifests[0]?.digest.replace(":", "/") ?? ""}`);
		expect(bytes.length).toBe(manifests[0]?.size);
		const manifest = JSON.parse(bytes.toString()) as { config: { digest: string }; layers: { digest: string }[] };
		const inOrder = [manifest.config, ...manifest.layers].map(({ digest }) => `blobs/${digest.replace(":", "/")}`);
		expect(inOrder).toEqual([contents?.Config, ...(contents?.Layers ?? [])]);
		expect(blobs).toHaveLength(inOrder.length + 1);
	});

	test("lets everybody read what only its maker could, and nobody write", async () => {
		const { layers } = await build();
		const listed = layers.map(({ bytes }) =>
			execFileSync("tar", ["tvz"], { input: bytes, encoding: "utf8", env: { TZ: "UTC" } })
				.trim()
				.split("\n"),
		);
		expect(listed).toEqual([
			[
				expect.stringMatching(/^drwxr-xr-x 0\/0 +0 1970-01-01 00:00 usr\/$/),
				expect.stringMatching(/^-rw-r--r-- 0\/0 +1 1970-01-01 00:00 usr\/a$/),
				expect.stringMatching(/^-rw-r--r-- 0\/0 +7 1970-01-01 00:00 usr\/lib$/),
			],
			[expect.stringMatching(/usr\/$/), expect.stringMatching(/usr\/agent$/)],
		]);
	});
});

describe("fullReference()", () => {
	for (const [reference, full] of [
		["xpdb-agent:1", "docker.io/library/xpdb-agent:1"],
		["team/xpdb-agent:1", "docker.io/team/xpdb-agent:1"],
		["localhost/xpdb-agent:1", "localhost/xpdb-agent:1"],
		["registry:5000/xpdb-agent:1", "registry:5000/xpdb-agent:1"],
	] as const) {
		test(`calls ${reference} as containerd does`, () => expect(fullReference(reference)).toBe(full));
	}
});
