// Cordoning and uncordoning one node, with kubectl's patch and kubectl's answers.
import { errorText } from "./api-error.ts";
import type { DryRun, EventSink } from "./events.ts";
import type { NodeTarget } from "./targets.ts";

/** False where it failed: kubectl tells it and goes on. */
export async function setUnschedulable(
	{ context, name, unschedulable }: NodeTarget,
	{ desired, dryRun, emit }: { readonly desired: boolean; readonly dryRun: DryRun; readonly emit: EventSink },
): Promise<boolean> {
	const type = desired ? "node.cordoned" : "node.uncordoned";
	const already = unschedulable === desired;
	if (!already && dryRun !== "client") {
		try {
			const query = dryRun === "server" ? "?dryRun=All" : "";
			// null takes the field away, as kubectl's own patch does.
			await context.client.patch(`/api/v1/nodes/${encodeURIComponent(name)}${query}`, {
				spec: { unschedulable: desired ? true : null },
			});
		} catch (error) {
			if (!(error instanceof Error)) throw error;
			emit({
				type: "node.cordonFailed",
				context: context.name,
				node: name,
				uncordon: !desired,
				message: errorText(error),
			});
			return false;
		}
	}
	emit({ type, context: context.name, node: name, already, ours: !already, dryRun });
	return true;
}
