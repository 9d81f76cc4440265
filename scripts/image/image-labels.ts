import { mustRun } from "../must-run.ts";

export async function imageLabels(version: string, created: string): Promise<Readonly<Record<string, string>>> {
	const prefix = "org.opencontainers.image";
	const revision = (await mustRun("read the commit", ["git", "rev-parse", "HEAD"])).trim();
	const changed = (await mustRun("read what was changed", ["git", "status", "--porcelain"])) !== "";
	return {
		[`${prefix}.title`]: "xpdb-agent",
		[`${prefix}.description`]: "One disruption budget across many Kubernetes clusters: the agent in each of them",
		[`${prefix}.version`]: version,
		[`${prefix}.created`]: created,
		[`${prefix}.revision`]: changed ? `${revision}-changed` : revision,
		[`${prefix}.licenses`]: "Apache-2.0",
	};
}
