// How a run ends: what was done, what is left behind, how to go on.
import { formatElapsed } from "../duration.ts";
import type { RunSummary } from "../events.ts";

/** No lines for a run in one context that did all it was asked: kubectl has none either. */
export function summaryLines(summary: RunSummary, { several }: { readonly several: boolean }): readonly string[] {
	const named = ({ context, node }: { readonly context: string; readonly node: string }): string =>
		several ? `${context} ${node}` : node;
	const lines: string[] = [];
	if (several) {
		const nodes =
			summary.command === "drain"
				? `${count(summary.drained.length, "node")} drained, ${summary.notDrained.length} not, `
				: "";
		const failed = summary.failed > 0 ? `, ${summary.failed} failed` : "";
		lines.push(
			`Done: ${nodes}${count(summary.evicted, "pod")} evicted${failed}, longest wait ${formatElapsed(summary.longestWaitMs)}, ` +
				`exit code ${summary.exitCode}`,
		);
		for (const { node, reason } of summary.notDrained) lines.push(`Not drained: ${node}: ${reason}`);
	}
	if (summary.interrupted && summary.cordoned.length > 0) {
		lines.push(`Left behind: ${summary.cordoned.map(named).join(", ")} cordoned.`);
	}
	if (summary.interrupted && summary.resume !== undefined) lines.push(`Continue:     ${summary.resume}`);
	if (summary.interrupted) for (const command of summary.undo ?? []) lines.push(`Undo cordons: ${command}`);
	return lines;
}

function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
