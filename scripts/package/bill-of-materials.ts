// What is in the program, for machines to read: CycloneDX, as npm writes it of the packages that are bundled, and Node besides.
import { runCommand } from "../run-command.ts";

interface BillOfMaterials {
	readonly components: readonly { readonly name: string }[];
	readonly [field: string]: unknown;
}

export async function billOfMaterials(nodeVersions: readonly string[]): Promise<string> {
	const { code, output } = await runCommand([
		"npm",
		"sbom",
		"--sbom-format=cyclonedx",
		"--sbom-type=application",
		"--silent",
		"--omit=dev",
		"--omit=optional",
	]);
	if (code !== 0) throw new Error(`Cannot write the bill of materials: ${output}`);
	const bill = JSON.parse(output.slice(output.indexOf("{"))) as BillOfMaterials;
	const nodes = nodeVersions.map((version) => ({
		"bom-ref": `node@${version}`,
		type: "platform",
		name: "node",
		version,
		licenses: [{ license: { id: "MIT" } }],
		purl: `pkg:generic/node@${version}`,
	}));
	return `${JSON.stringify({ ...bill, components: [...bill.components, ...nodes] }, undefined, 2)}\n`;
}
