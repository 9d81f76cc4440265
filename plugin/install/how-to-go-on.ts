// Says what a stopped installation or upgrade leaves, and which commands continue or undo it.
import type { StoppedInstall } from "./apply-fleet.ts";
import { objectText } from "./cluster-object.ts";
import type { FoundCluster } from "./found-cluster.ts";

/** `found`: the clusters as they were before. */
export function howToGoOn(
	command: "install" | "upgrade",
	found: readonly FoundCluster[],
	{ applied, unsure }: Pick<StoppedInstall, "applied" | "unsure">,
): readonly string[] {
	const lines = unsure.map(
		({ context, object }) => `${context}  ${objectText(object)} may be applied or not: no answer came`,
	);
	if (applied.length + unsure.length === 0) lines.push("Nothing was touched.");
	else {
		const what = applied.length > 0 ? "What is listed above was applied, and stands. " : "";
		const undo = undoCommand(found);
		lines.push(`${what}Run the same command to continue${undo === undefined ? "" : `; to undo it: ${undo}`}`);
	}
	if (command === "upgrade") lines.push("The agents that were not replaced go on as they are.");
	return lines;
}

/** Undefined if part of a fleet existed before, because `uninstall` would remove that too. */
function undoCommand(found: readonly FoundCluster[]): string | undefined {
	const [one, ...others] = found;
	if (!one || found.some(({ fleet, image }) => fleet !== undefined || image !== undefined)) return undefined;
	const { name, suggest } = one.context;
	return others.length > 0 ? suggest.xpdbInAll(["uninstall"]) : suggest.xpdb(["uninstall"], name);
}
