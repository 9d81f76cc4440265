// `npm run image`: builds the agent's image for amd64 and arm64 into dist/image/, without docker. It writes an OCI layout (oci/) that
// skopeo and crane push. For each processor, it also writes a tar file that docker, containerd and kind load, and a bill of materials.
// `-- --name registry.example.com/xpdb-agent:0.2.0` names the image. `-- --only amd64` builds only the image for amd64. Exit code 3 means
// that this machine cannot fetch Debian's packages.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle, noticesFile } from "../bundle.ts";
import { licenceNotices, packagesOf } from "../licence-notices.ts";
import { billOfMaterials } from "../package/bill-of-materials.ts";
import { commitTime } from "../package/commit-time.ts";
import { fetchNode } from "../package/fetch-node.ts";
import { repositoryRoot } from "../repository-root.ts";
import { buildImage, type Image } from "./build-image.ts";
import { type DebianPackage, fetchDebianPackages, whyNoDebian } from "./debian-packages.ts";
import { imageLabels } from "./image-labels.ts";
import { indexOf, jsonBlob, mediaTypes, writeLayout } from "./oci-layout.ts";
import { type Platform, platforms } from "./platforms.ts";
import { stageLayers } from "./stage-layers.ts";
import { writeImageArchive } from "./write-image-archive.ts";

const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as { version: string };
const { values } = parseArgs({
	options: {
		name: { type: "string", default: `xpdb-agent:${version}` },
		only: { type: "string", multiple: true, default: platforms.map(({ architecture }) => architecture) },
		output: { type: "string", default: join(repositoryRoot, "dist", "image") },
	},
});
if (!/^[a-z\d][\w./:-]*:[\w][\w.-]*$/.test(values.name)) throw new Error(`--name must be NAME:TAG, is ${values.name}`);
const unknown = values.only.filter((name) => !platforms.some(({ architecture }) => architecture === name));
if (unknown.length > 0) throw new Error(`There is no image for ${unknown.join(", ")}`);
const noDebian = await whyNoDebian();
if (noDebian !== undefined) {
	console.log(noDebian);
	process.exit(3);
}

const work = mkdtempSync(join(tmpdir(), "xpdb-image-"));
const modified = await commitTime();
const created = new Date(modified * 1000).toISOString();
const labels = await imageLabels(version, created);

async function imageFor(platform: Platform, built: string): Promise<Image> {
	const { architecture } = platform;
	const folder = join(work, architecture);
	const debian = await fetchDebianPackages(architecture, join(folder, "debian"));
	const node = await fetchNode(platform.node, folder);
	const layers = await stageLayers({ platform, debian, node, built, folder: join(folder, "layers") });
	const image = await buildImage({ platform, layers, labels, created });
	const name = `xpdb-agent_v${version}_linux_${architecture}`;
	const output = join(values.output, `${name}.tar`);
	writeImageArchive({ image, platform, reference: values.name, modified, work, output });
	const others = debian.packages.map(debianComponent);
	const nodes = [{ version: platform.node.version, os: "linux", arch: architecture, sha256: node.sha256 }];
	const bill = await billOfMaterials({ name: "xpdb-agent", nodes, packages: bundled, others, modified });
	writeFileSync(join(values.output, `${name}.cdx.json`), bill);
	const megabytes = image.layers.reduce((sum, { descriptor }) => sum + descriptor.size, 0) / 1e6;
	console.log(`${name}.tar: ${values.name} with Node ${platform.node.version}, ${megabytes.toFixed(1)} MB compressed`);
	return image;
}

function debianComponent({ name, version: ofPackage, architecture }: DebianPackage) {
	const purl = `pkg:deb/debian/${name}@${encodeURIComponent(ofPackage)}?arch=${architecture}`;
	return { "bom-ref": purl, type: "library", name, version: ofPackage, purl };
}

let bundled: ReturnType<typeof packagesOf>;
try {
	rmSync(values.output, { recursive: true, force: true });
	mkdirSync(values.output, { recursive: true });
	const built = join(work, "built");
	const { agentInputs } = await bundle({ folder: built, failPoints: false });
	bundled = packagesOf(agentInputs);
	writeFileSync(join(built, noticesFile), licenceNotices("xpdb-agent has", bundled));
	const chosen = platforms.filter(({ architecture }) => values.only.includes(architecture));
	const images: (readonly [Platform, Image])[] = [];
	for (const platform of chosen) images.push([platform, await imageFor(platform, built)]);
	const manifests = images.map(([{ architecture }, { manifest }]) => ({
		...manifest.descriptor,
		platform: { os: "linux", architecture },
	}));
	const index = jsonBlob(mediaTypes.index, indexOf(manifests, labels));
	const annotations = { "org.opencontainers.image.ref.name": version };
	const blobs = images.flatMap(([, { manifest, config, layers }]) => [manifest, config, ...layers]);
	writeLayout(join(values.output, "oci"), [...blobs, index], [{ ...index.descriptor, annotations }]);
} finally {
	rmSync(work, { recursive: true, force: true });
}
