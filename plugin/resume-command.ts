// The commands that go on where a run stopped, or take its cordons back.
import type { GlobalFlags } from "./global-flags.ts";

/** The same command: what is done already is not done again. */
export function resumeCommand(argv: readonly string[]): string {
	return ["kubectl", "xpdb", ...argv].map(quote).join(" ");
}

/** `nodes`: as they would be written with the same contexts. */
export function undoCommand(nodes: readonly string[], { context, contexts, kubeconfig }: GlobalFlags): string {
	const flags = [
		...(contexts.length > 0 ? [`--contexts=${contexts.join(",")}`] : []),
		...(context === undefined ? [] : [`--context=${context}`]),
		...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
	];
	return ["kubectl", "xpdb", "uncordon", ...nodes, ...flags].map(quote).join(" ");
}

function quote(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
