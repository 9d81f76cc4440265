// `npm run package`: writes an archive of the plugin for every system into dist/package/, with checksums and a bill of materials. With
// `-- --url URL`, the later location of the archives, it also writes krew's manifest. `-- --only linux-amd64` makes only that archive.
// `-- --without-code` leaves out V8's compiled code, so that two runs on one commit make the same files. Exit code 3 means that this
// machine is not Linux on amd64.
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { noticesFile } from "../bundle.ts";
import { buildExecutable } from "../executable/build-executable.ts";
import { compileProgram } from "../executable/compile-program.ts";
import { writeProgramParts } from "../executable/program-parts.ts";
import { stripSymbols } from "../executable/strip-symbols.ts";
import { licenceNotices, nodeNotice, packagesOf } from "../licence-notices.ts";
import { repositoryRoot } from "../repository-root.ts";
import { runCommand } from "../run-command.ts";
import { changedPages, signAdHoc } from "./ad-hoc-signature.ts";
import { writeArchive } from "./archive.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { commitTime } from "./commit-time.ts";
import { type FetchedNode, fetchNode } from "./fetch-node.ts";
import { krewManifest, type PackagedArchive } from "./krew-manifest.ts";
import { maker as makerNode, nameOf, pluginNode, type Target, targets } from "./targets.ts";

const { values } = parseArgs({
	options: {
		only: { type: "string", multiple: true, default: targets.map(nameOf) },
		url: { type: "string" },
		"without-code": { type: "boolean", default: false },
		output: { type: "string", default: join(repositoryRoot, "dist", "package") },
	},
});
const chosen = targets.filter((target) => values.only.includes(nameOf(target)));
const unknown = values.only.filter((name) => !targets.some((target) => nameOf(target) === name));
if (unknown.length > 0)
	throw new Error(`There is no ${unknown.join(", ")}: there are ${targets.map(nameOf).join(", ")}`);
// The blob for each Node is written by a Node of the same version that runs on Linux on amd64.
if (process.platform !== "linux" || process.arch !== "x64") {
	console.log("packages are made on Linux on amd64");
	process.exit(3);
}

const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as { version: string };
const work = mkdtempSync(join(tmpdir(), "xpdb-package-"));
const modified = await commitTime();

const nodes = new Map<Target["node"], Promise<FetchedNode>>();

function fetched(node: Target["node"]): Promise<FetchedNode> {
	const fetching = nodes.get(node) ?? fetchNode(node, work);
	nodes.set(node, fetching);
	return fetching;
}

/** Signs a program for macOS, and checks the signature, because the program cannot run on this machine. */
function sign(program: string): void {
	writeFileSync(program, signAdHoc(readFileSync(program), "kubectl-xpdb"));
	const changed = changedPages(readFileSync(program));
	if (changed.length > 0) throw new Error(`${program} is signed with wrong hashes of pages ${changed.join(", ")}`);
}

async function mustRun(program: string): Promise<void> {
	const { output } = await runCommand([program, "version", "--client"]);
	if (output !== `Client: v${version}\n`) throw new Error(`${program} does not run: ${output}`);
}

interface Built {
	readonly target: Target;
	readonly folder: string;
	readonly program: string;
	/** Whether the program is for this kind of machine, and was run. */
	readonly isNative: boolean;
}

async function build(target: Target, parts: string): Promise<Built> {
	const { os, arch } = target;
	const folder = join(work, nameOf(target));
	mkdirSync(folder);
	const program = os === "windows" ? "kubectl-xpdb.exe" : "kubectl-xpdb";
	const output = join(folder, program);
	const maker = await fetched(makerNode);
	const node = await fetched(target.node);
	const isNative = os === "linux" && arch === "amd64";
	const withCode = isNative && !values["without-code"];
	// This code differs from run to run, because the functions that a call runs depend on when answers arrive.
	if (withCode) await compileProgram(maker.binary, parts);
	const strip = os === "linux" ? stripSymbols : async () => false;
	await buildExecutable({ parts, node: node.binary, maker: maker.binary, withCode, strip, output });
	if (os === "darwin") sign(output);
	if (isNative) await mustRun(output);
	copyFileSync(join(repositoryRoot, "LICENSE"), join(folder, "LICENSE"));
	copyFileSync(join(work, noticesFile), join(folder, noticesFile));
	appendFileSync(join(folder, noticesFile), nodeNotice(pluginNode, readFileSync(maker.licence, "utf8")));
	return { target, folder, program, isNative };
}

async function pack({ target, folder, program, isNative }: Built): Promise<PackagedArchive> {
	const { os, arch } = target;
	const name = `kubectl-xpdb_v${version}_${os}_${arch}.tar.gz`;
	const sha256 = await writeArchive({
		folder,
		files: ["LICENSE", noticesFile, program],
		modified,
		output: join(values.output, name),
	});
	console.log(`${name} with Node ${target.node.version}${isNative ? "" : ": built and looked at here, not run"}`);
	return { os, arch, program, uri: `${values.url ?? "."}/${name}`, sha256 };
}

try {
	rmSync(values.output, { recursive: true, force: true });
	mkdirSync(values.output, { recursive: true });
	const parts = join(work, "parts");
	mkdirSync(parts);
	const packages = packagesOf(await writeProgramParts(parts));
	writeFileSync(join(work, noticesFile), licenceNotices("kubectl-xpdb has", packages));
	const archives: PackagedArchive[] = [];
	// Packing takes seconds of processor time, so it runs while the next program is built.
	let packing = Promise.resolve();
	for (const target of chosen) {
		const [built] = await Promise.all([build(target, parts), packing]);
		packing = pack(built).then((archive) => void archives.push(archive));
	}
	await packing;
	const sums = archives.map(({ uri, sha256 }) => `${sha256}  ${uri.slice(uri.lastIndexOf("/") + 1)}\n`);
	writeFileSync(join(values.output, "SHA256SUMS"), sums.join(""));
	const inside = await Promise.all(
		chosen.map(async ({ os, arch, node }) => ({
			version: node.version,
			os,
			arch,
			sha256: (await fetched(node)).sha256,
		})),
	);
	writeFileSync(
		join(values.output, `kubectl-xpdb_v${version}.cdx.json`),
		await billOfMaterials({ name: "kubectl-xpdb", nodes: inside, packages, modified }),
	);
	if (values.url === undefined) console.log("no manifest for krew: --url says where the archives will be");
	else writeFileSync(join(values.output, "xpdb.yaml"), krewManifest(version, archives));
} finally {
	rmSync(work, { recursive: true, force: true });
}
