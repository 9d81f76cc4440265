// Formats the lines at the end of a run.
import type { NodeName, PodEvent, RunSummary } from "../events/events.ts";
import { formatElapsed } from "../flags/duration.ts";
import { counted } from "../terminal/counted.ts";

/** kubectl prints no summary. So without `several`, only unrecovered budgets are named, unless the run was interrupted. */
export function summaryLines(summary: RunSummary, { several }: { readonly several: boolean }): readonly string[] {
	const { command, interrupted, resume, undo } = summary;
	if (command !== "drain" && command !== "evict") return [];
	const lines: string[] = [];
	if (several) {
		const nodes =
			command === "drain"
				? `${counted(summary.drained.length, "node")} drained, ${summary.notDrained.length} not, `
				: "";
		const id = command === "drain" && summary.op !== undefined ? `, operation ${summary.op}` : "";
		const failed = summary.failed > 0 ? `, ${summary.failed} failed` : "";
		const pretended = summary.dryRun === undefined ? "" : ` (${summary.dryRun} dry run, nothing was changed)`;
		lines.push(
			`${interrupted ? "Stopped" : "Done"}${pretended}: ${nodes}${counted(summary.evicted, "pod")} evicted${failed}, longest wait ${formatElapsed(summary.longestWaitMs)}, ` +
				`exit code ${summary.exitCode}${id}`,
		);
		for (const { context, node, message } of summary.notDrained) {
			lines.push(`Not drained: ${context}/${node}: ${message}`);
		}
	}
	for (const { message } of summary.notRecovered) lines.push(message);
	const tellsHow = interrupted || (several && summary.notDrained.length > 0);
	if (interrupted && summary.cordoned.length > 0) {
		const named = ({ context, node }: NodeName): string => (several ? `${context}/${node}` : node);
		lines.push(`Still cordoned: ${summary.cordoned.map(named).join(", ")}`);
	}
	const { terminating = [] } = summary;
	if (terminating.length > 0) lines.push(`Still terminating: ${podNames(terminating, several)}`);
	if (tellsHow && resume !== undefined) lines.push(`Continue:     ${resume}`);
	if (tellsHow && undo !== undefined) lines.push(`Undo cordons: ${undo}`);
	return lines;
}

const mostNamed = 10;

function podNames(pods: readonly PodEvent[], several: boolean): string {
	const names = pods.slice(0, mostNamed).map(({ context, namespace, pod }) => {
		return `${several && context !== "" ? `${context}/` : ""}${namespace}/${pod}`;
	});
	return `${names.join(", ")}${pods.length > names.length ? ` and ${pods.length - names.length} more` : ""}`;
}
