// What is in a program or an image, for machines to read: CycloneDX, as npm writes it of the packages that are bundled, and what else there is
// besides. The same contents make the same bytes.
import { mustRun } from "../must-run.ts";

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

export interface BillOptions {
	/** What it is of. */
	readonly name: string;
	/** Of Node.js; each is in something. */
	readonly nodeVersions: readonly string[];
	/** Names of the npm packages; left out, all that the plugin and the agent have. */
	readonly packages?: ReadonlySet<string>;
	readonly others?: readonly Component[];
	/** Seconds since 1970. */
	readonly modified: number;
}

export async function billOfMaterials(options: BillOptions): Promise<string> {
	const { name, nodeVersions, packages, others = [], modified } = options;
	const form = ["--sbom-format=cyclonedx", "--sbom-type=application", "--silent", "--omit=dev", "--omit=optional"];
	const output = await mustRun("write the bill of materials", ["npm", "sbom", ...form]);
	const { serialNumber: _, ...bill } = JSON.parse(output.slice(output.indexOf("{"))) as BillOfMaterials;
	const timestamp = new Date(modified * 1000).toISOString();
	// npm calls it by the folder that it stands in.
	const metadata = { ...bill.metadata, timestamp, component: { ...bill.metadata.component, name } };
	const components = bill.components.filter((component) => packages?.has(component.name) ?? true);
	const known = new Set([String(bill.metadata.component["bom-ref"]), ...components.map((each) => each["bom-ref"])]);
	const dependencies = bill.dependencies
		.filter(({ ref }) => known.has(ref))
		.map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
	const nodes = nodeVersions.map((version) => ({
		"bom-ref": `node@${version}`,
		type: "platform",
		name: "node",
		version,
		licenses: [{ license: { id: "MIT" } }],
		purl: `pkg:generic/node@${version}`,
	}));
	const all = { ...bill, metadata, components: [...components, ...nodes, ...others], dependencies };
	return `${JSON.stringify(all, undefined, 2)}\n`;
}
