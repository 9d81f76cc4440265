// Stages the contents of the image, with one folder for each layer. Layers that change least come first.
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { noticesFile } from "../bundle.ts";
import { stripSymbols } from "../executable/strip-symbols.ts";
import { nodeNotice } from "../licence-notices.ts";
import type { FetchedNode } from "../package/fetch-node.ts";
import { repositoryRoot } from "../repository-root.ts";
import type { UnpackedPackages } from "./debian-packages.ts";
import type { Platform } from "./platforms.ts";
import { copySharedLibraries } from "./shared-libraries.ts";

/** As in agent/deploy/deployment.yaml. */
export const user = 65_532;
export const program = ["/usr/bin/node", "/usr/lib/xpdb-agent/agent.mjs"] as const;

export interface LayerOptions {
	readonly platform: Platform;
	readonly debian: UnpackedPackages;
	readonly node: FetchedNode;
	/** The folder with the built agent and its licences. */
	readonly built: string;
	readonly folder: string;
}

export interface StagedLayer {
	readonly folder: string;
	/** The text that `docker history` shows. */
	readonly createdBy: string;
}

export async function stageLayers(options: LayerOptions): Promise<readonly StagedLayer[]> {
	const { platform, debian, node, folder } = options;
	const layer = (name: string) => join(folder, name);
	const binary = join(layer("node"), program[0]);
	mkdirSync(dirname(binary), { recursive: true });
	copyFileSync(node.binary, binary);
	chmodSync(binary, 0o755);
	const { triplet } = platform;
	const libraries = await copySharedLibraries({ program: binary, from: debian.root, to: layer("system"), triplet });
	stageSystem(debian, layer("system"));
	await stripSymbols(binary);
	stageAgent(options, layer("agent"));
	const versions = debian.packages.map(({ name, version }) => `${name} ${version}`);
	return [
		{ folder: layer("system"), createdBy: `${libraries.join(", ")} and certificates of ${versions.join(", ")}` },
		{ folder: layer("node"), createdBy: `Node.js ${platform.node.version}` },
		{ folder: layer("agent"), createdBy: "xpdb-agent" },
	];
}

function stageSystem({ root, packages }: UnpackedPackages, folder: string): void {
	const write = writerInto(folder);
	write("etc/passwd", `root:x:0:0:root:/:/nonexistent\nxpdb-agent:x:${user}:${user}:xpdb-agent:/:/nonexistent\n`);
	write("etc/group", `root:x:0:\nxpdb-agent:x:${user}:\n`);
	write("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
	write("etc/ssl/certs/ca-certificates.crt", authorities(join(root, "usr/share/ca-certificates/mozilla")));
	// Scanners for known vulnerabilities look for this file.
	write("etc/os-release", readFileSync(join(root, "usr/lib/os-release"), "utf8"));
	for (const { name, control } of packages) {
		write(`var/lib/dpkg/status.d/${name}`, control);
		write(`usr/share/doc/${name}/copyright`, readFileSync(join(root, "usr/share/doc", name, "copyright"), "utf8"));
	}
}

/** Returns all authorities in one text, as update-ca-certificates writes it. */
function authorities(folder: string): string {
	const files = readdirSync(folder).filter((file) => file.endsWith(".crt"));
	return files
		.toSorted()
		.map((file) => `${readFileSync(join(folder, file), "utf8").trimEnd()}\n`)
		.join("");
}

function stageAgent({ platform, node, built }: LayerOptions, folder: string): void {
	const write = writerInto(folder);
	write(program[1], readFileSync(join(built, "agent.js"), "utf8"));
	write("licenses/LICENSE", readFileSync(join(repositoryRoot, "LICENSE"), "utf8"));
	write(`licenses/${noticesFile}`, readFileSync(join(built, noticesFile), "utf8"));
	appendFileSync(
		join(folder, "licenses", noticesFile),
		nodeNotice(platform.node.version, readFileSync(node.licence, "utf8")),
	);
}

function writerInto(folder: string) {
	return (path: string, text: string): void => {
		mkdirSync(join(folder, dirname(path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	};
}
