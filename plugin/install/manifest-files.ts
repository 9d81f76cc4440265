// Writes the objects as text for other tools, such as a repository that Argo CD or Flux follows.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { errorText } from "../kubernetes/api-error.ts";
import { makeFolder } from "../kubernetes/make-folder.ts";
import { UsageError } from "../terminal/errors.ts";
import type { PlannedCluster } from "./planned-fleet.ts";

/** The same objects give the same bytes. */
export function manifestText({ found, objects }: PlannedCluster): string {
	const head = `# Member ${found.context.name}, cluster ${found.id}\n`;
	const documents = objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }));
	return `${head}${documents.join("---\n")}`;
}

/**
 * Writes one folder for each cluster, named for its context, because Argo CD and Flux apply a folder to a cluster. Existing files are
 * replaced. Returns the path of the file in each folder.
 */
export function writeManifests(clusters: readonly PlannedCluster[], folder: string): readonly string[] {
	const names = clusters.map(({ found }) => folderName(found.context.name));
	const [twice] = names.filter((name, index) => names.indexOf(name) !== index);
	if (twice !== undefined) throw new UsageError(`two contexts would be written to the folder ${twice}`);
	try {
		return clusters.map((cluster, index) => {
			const path = join(folder, names[index] ?? "", "xpdb.yaml");
			makeFolder(dirname(path));
			writeFileSync(path, manifestText(cluster));
			return path;
		});
	} catch (error) {
		throw new UsageError(`cannot write to --output-dir: ${errorText(error)}`);
	}
}

/** Context names can contain slashes and colons (arn:aws:eks:eu-west-1:1234:cluster/shop). */
function folderName(context: string): string {
	return context.replaceAll(/[^\w.-]/g, "_").replace(/^\.+/, "_");
}
