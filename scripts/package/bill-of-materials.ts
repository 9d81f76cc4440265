// Lists the contents of a program or an image as CycloneDX: the bundled packages, Node, and anything else inside. The same contents make
// the same bytes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "../must-run.ts";
import { repositoryRoot } from "../repository-root.ts";

interface Component {
	readonly name: string;
	readonly [field: string]: unknown;
}

interface BillOfMaterials {
	readonly serialNumber?: string;
	readonly metadata: { readonly component: Component; readonly [field: string]: unknown };
	readonly components: readonly (Component & { readonly "bom-ref": string })[];
	readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
	readonly [field: string]: unknown;
}

export interface NodeInside {
	readonly version: string;
	/** As Go names it, like `arch`. */
	readonly os: string;
	readonly arch: string;
	/** Hash of Node's binary as it was fetched. */
	readonly sha256: string;
}

export interface BillOptions {
	readonly name: string;
	readonly nodes: readonly NodeInside[];
	/** Folders of the bundled packages, from the root, as packagesOf() finds them. */
	readonly packages: ReadonlyMap<string, unknown>;
	readonly others?: readonly Component[];
	/** Seconds since 1970. */
	readonly modified: number;
}

/** @throws Error if npm does not list a bundled package. */
export async function billOfMaterials(options: BillOptions): Promise<string> {
	const { name, nodes, packages, others = [], modified } = options;
	// Not with --omit=dev: npm would then also omit some bundled packages.
	const form = ["--sbom-format=cyclonedx", "--sbom-type=application", "--silent"];
	const output = await mustRun("write the bill of materials", ["npm", "sbom", ...form]);
	const { serialNumber: _, ...bill } = JSON.parse(output.slice(output.indexOf("{"))) as BillOfMaterials;
	const timestamp = new Date(modified * 1000).toISOString();
	const root = bill.metadata.component["bom-ref"];
	// npm names the component after its folder.
	const metadata = { ...bill.metadata, timestamp, component: { ...bill.metadata.component, name } };
	const bundled = [...new Set([...packages.keys()].map(referenceOf))].toSorted();
	const components = bundled.map((reference) => {
		const component = bill.components.find((each) => each["bom-ref"] === reference);
		if (component === undefined) throw new Error(`Cannot find the bundled package ${reference} in what npm lists`);
		// npm marks some bundled packages as optional or excluded, because development needs them, too.
		return { ...component, scope: "required" };
	});
	const known = new Set([String(root), ...bundled]);
	const dependencies = bill.dependencies
		.filter(({ ref }) => known.has(ref))
		.map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
	const all = { ...bill, metadata, components: [...components, ...nodes.map(nodeComponent), ...others], dependencies };
	return `${JSON.stringify(all, undefined, 2)}\n`;
}

/** Returns npm's reference to a package, for example "yargs@18.2.0". */
function referenceOf(folder: string): string {
	const text = readFileSync(join(repositoryRoot, folder, "package.json"), "utf8");
	const { name, version } = JSON.parse(text) as { name: string; version: string };
	return `${name}@${version}`;
}

function nodeComponent({ version, os, arch, sha256 }: NodeInside): Component {
	const purl = `pkg:generic/node@${version}?arch=${arch}&os=${os}`;
	return {
		"bom-ref": purl,
		type: "platform",
		name: "node",
		version,
		description: `Node.js for ${os} on ${arch}; the hash is that of its program as it was fetched`,
		hashes: [{ alg: "SHA-256", content: sha256 }],
		licenses: [{ license: { id: "MIT" } }],
		// Scanners find Node's known vulnerabilities by this name.
		cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
		purl,
	};
}
